"""Is a file NetCDF, whole, and what do its numbers mean?

The NetCDF library reads zeros beyond the end of a truncated classic file, and says only
"unknown format" of an error page that was saved as data. Both are told here, first.
Reading is in one thread: the library is not safe in several.
"""

import warnings
from pathlib import Path
from typing import Any, Final

import netCDF4
import numpy as np
from scipy.io import netcdf_file

from enso_jax.observations._errors import ObservationError

_CLASSIC: Final = (b"CDF\x01", b"CDF\x02")
_MAGIC: Final = (*_CLASSIC, b"CDF\x05", b"\x89HDF")
#: Larger numbers are fill values of either sign, declared or not: 9.97e36, 1e34, 1e35...
_LARGEST: Final = 1e30
_REMEDY: Final = "fetch or copy it again"


def open_netcdf(path: Path) -> netCDF4.Dataset:
    """The dataset in a file, NetCDF-3 or 4, whose numbers are given as they are stored.

    Raises:
        ObservationError: if there is no such file, or it is empty, truncated or no NetCDF.
    """
    _check_whole(path)
    try:
        dataset = netCDF4.Dataset(path)
    except OSError as error:
        raise ObservationError(
            f"{path}: cannot be read as NetCDF ({error.strerror or error}), "
            f"perhaps it is truncated; {_REMEDY}."
        ) from error
    # Scaling is done by `decoded`: the library's own takes `valid_range` for a mask.
    dataset.set_auto_maskandscale(False)
    return dataset


def decoded(variable: netCDF4.Variable, stored: np.ndarray) -> np.ndarray:
    """Stored numbers as float64 in the variable's units, NaN where they mean "missing".

    Understands `scale_factor`, `add_offset`, `_Unsigned`, and whichever of `_FillValue` and
    `missing_value` there are, one or several, in the stored type or not.
    """
    if getattr(variable, "_Unsigned", "false") in ("true", "True") and stored.dtype.kind == "i":
        stored = stored.view(stored.dtype.str.replace("i", "u"))
    values = stored.astype(np.float64)
    fills = [
        fill
        for name in ("_FillValue", "missing_value")
        for fill in np.ravel(getattr(variable, name, []))
    ]
    if not fills:
        # What the library fills in where nothing was written and no attribute says otherwise.
        fills = [netCDF4.default_fillvals.get(stored.dtype.str[1:], np.nan)]
    missing = ~(np.abs(values) < _LARGEST)
    for fill in fills:
        # The fill in the stored type: -9.96921e36 in double is no float32.
        with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            missing |= stored == np.asarray(fill).astype(stored.dtype)
    scale = float(getattr(variable, "scale_factor", 1.0))
    offset = float(getattr(variable, "add_offset", 0.0))
    return np.where(missing, np.nan, values * scale + offset)


def attribute(holder: netCDF4.Variable | netCDF4.Dataset, name: str) -> str:
    """An attribute of a variable or of a file as text, empty if there is none."""
    value: Any = getattr(holder, name, "")
    return value.strip() if isinstance(value, str) else str(value)


def _check_whole(path: Path) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(512)
    except OSError as error:
        raise ObservationError(
            f"{path}: cannot be read ({error.strerror}); name a file that is there and readable."
        ) from error
    if not start:
        raise ObservationError(f"{path}: the file is empty; {_REMEDY}.")
    if not start.startswith(_MAGIC):
        what = (
            "it is a web page, perhaps a server's error message"
            if start.lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml"))
            else f"it begins with {start[:8]!r}"
        )
        raise ObservationError(f"{path}: not a NetCDF file ({what}); {_REMEDY}.")
    if start.startswith(_CLASSIC) and not _classic_is_whole(path):
        raise ObservationError(f"{path}: the file is truncated; {_REMEDY}.")


def _classic_is_whole(path: Path) -> bool:
    """Whether all that the header promises is there; SciPy maps every array, and so finds out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            netcdf_file(path, mmap=True).close()
        except (ValueError, TypeError, IndexError, OSError):
            return False
    return True
