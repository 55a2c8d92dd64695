"""Which files of a folder hold which field?

Every NetCDF file, in the folder or below it, is looked into: what its variables are called
decides, not what the file is. The long series are text whose name holds nino3 or nino4.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from enso_jax.observations._errors import ObservationError
from enso_jax.observations.fields._field import Field, field_of, variable_of
from enso_jax.observations.fields._netcdf import attribute, open_netcdf
from enso_jax.observations.fields._quantities import QUANTITIES

#: A global attribute of synthetic fields: what is built from simulated ones is called simulated.
KIND_ATTRIBUTE: Final = "enso_jax_kind"
_NETCDF: Final = (".nc", ".nc3", ".nc4", ".cdf", ".netcdf")
_TEXT: Final = (".data", ".txt", ".ascii")


@dataclasses.dataclass(frozen=True, eq=False)
class RawFields:
    """What there is to build a record from.

    Attributes:
        folder: where it is.
        fields: those of `QUANTITIES` that were found.
        long_series: the text files of nino3 and nino4 that were found.
        simulated: whether a file says that it is no measurement.
    """

    folder: Path
    fields: Mapping[str, Field]
    long_series: Mapping[str, Path]
    simulated: bool

    def field(self, name: str) -> Field:
        """A field, or the sentence that it is not there."""
        if name not in self.fields:
            found = ", ".join(self.fields) or "nothing"
            raise ObservationError(
                f"{self.folder}: no file holds {name}, only {found} was found; add its files, "
                "or bring them with `enso-jax observations fetch`."
            )
        return self.fields[name]

    @property
    def names(self) -> list[str]:
        """Everything that was found, in a fixed order."""
        return [*(name for name in QUANTITIES if name in self.fields), *sorted(self.long_series)]

    def paths_of(self, name: str) -> list[Path]:
        """The files of a field, in order of time, or of a long series."""
        return self.fields[name].paths if name in self.fields else [self.long_series[name]]


def find_fields(folder: Path) -> RawFields:
    """What a folder holds.

    Raises:
        ObservationError: if there is no such folder, or a NetCDF file in it is unsound or holds
            none of the fields; the sentence names the file.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ObservationError(
            f"{folder}: not a folder; name the one that holds the raw fields, or bring them with "
            "`enso-jax observations fetch`."
        )
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    visible = [path for path in files if not path.name.startswith(".")]
    holders: dict[str, list[Path]] = {}
    simulated = False
    for path in visible:
        if path.suffix.lower() in _NETCDF:
            quantity, is_simulated = _look_into(path)
            holders.setdefault(quantity, []).append(path)
            simulated |= is_simulated
    series = {
        name: path
        for name in ("nino3", "nino4")
        for path in visible
        if path.suffix.lower() in _TEXT and f"{name}." in path.name.lower()
    }
    if not holders:
        raise ObservationError(
            f"{folder}: holds no NetCDF file; name the folder with the raw fields, or bring them "
            "with `enso-jax observations fetch`."
        )
    fields = {name: field_of(name, holders[name]) for name in holders}
    return RawFields(folder, fields, series, simulated)


def _look_into(path: Path) -> tuple[str, bool]:
    """The name of the quantity that a file holds, and whether it was simulated."""
    with open_netcdf(path) as dataset:
        for name, quantity in QUANTITIES.items():
            if variable_of(dataset, quantity) is not None:
                return name, attribute(dataset, KIND_ATTRIBUTE) == "simulated"
        variables = ", ".join(dataset.variables) or "nothing"
    raise ObservationError(
        f"{path}: holds none of {', '.join(QUANTITIES)}, only {variables}; name its variable so, "
        "or remove the file."
    )
