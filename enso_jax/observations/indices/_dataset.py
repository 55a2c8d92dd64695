"""How do the indices lie in a NetCDF file that any tool understands?

`indices.nc`, CF conventions: the anomalies of the five indices month by month, with the
climatology that was removed, and the SHA-256 of the fields that they come from.
"""

from collections.abc import Mapping
from typing import Any, Final

import cftime
import netCDF4
import numpy as np

from enso_jax.state import MONTHS_PER_YEAR, VARIABLES

INDICES_FILE: Final = "indices.nc"

_STANDARD_NAMES: Final = {
    "T_C": "sea_surface_temperature_anomaly",
    "T_E": "sea_surface_temperature_anomaly",
}
#: Years before it are relative ones, which have no leap years of their own.
_FIRST_GREGORIAN_YEAR: Final = 1583
_CELL_METHODS: Final = "area: mean (cosine of latitude) time: mean"


def indices_bytes(
    first_month: int,
    values: np.ndarray,
    climatology: np.ndarray,
    baseline_years: tuple[int, int],
    about: Mapping[str, str],
) -> bytes:
    """The file's content.

    Args:
        first_month: integer date of the first row, a January.
        values: (months, 5) anomalies in the order of `state.NAMES`, NaN where missing.
        climatology: (12, 5) what was removed.
        baseline_years: of the climatology.
        about: global attributes.
    """
    # In memory, and put on the disk as bytes: the library reports a full disk as "HDF error".
    dataset = netCDF4.Dataset(INDICES_FILE, "w", format="NETCDF4", memory=1 << 16)
    dataset.setncatts({"Conventions": "CF-1.11", **about})
    _write_time(dataset, first_month, len(values))
    for column, variable in enumerate(VARIABLES):
        attributes: dict[str, Any] = {
            "units": variable.units,
            "long_name": f"{variable.long_name}, {variable.region}, 5S-5N",
            "cell_methods": _CELL_METHODS,
        }
        if variable.name in _STANDARD_NAMES:
            attributes["standard_name"] = _STANDARD_NAMES[variable.name]
        _write(dataset, variable.name, "time", values[:, column], attributes)
        _write(
            dataset,
            f"{variable.name}_climatology",
            "climatology_month",
            climatology[:, column],
            {
                "units": variable.units,
                "long_name": f"climatology removed from {variable.name}, "
                f"years {baseline_years[0]} to {baseline_years[1]}",
                "cell_methods": _CELL_METHODS,
            },
        )
    return bytes(dataset.close())  # pyright: ignore[reportArgumentType]


def _write_time(dataset: netCDF4.Dataset, first_month: int, months: int) -> None:
    dataset.createDimension("time", months)
    dataset.createDimension("bounds", 2)
    dataset.createDimension("climatology_month", MONTHS_PER_YEAR)
    first_year = first_month // MONTHS_PER_YEAR
    calendar = "standard" if first_year >= _FIRST_GREGORIAN_YEAR else "noleap"
    units = f"days since {first_year:04d}-01-01"
    years, calendar_months = np.divmod(first_month + np.arange(months + 1), MONTHS_PER_YEAR)
    edges = [
        cftime.datetime(int(year), int(month) + 1, 1, calendar=calendar)
        for year, month in zip(years, calendar_months, strict=True)
    ]
    days = np.asarray(cftime.date2num(edges, units, calendar), dtype=np.float64)
    time = {
        "units": units,
        "calendar": calendar,
        "standard_name": "time",
        "axis": "T",
        "bounds": "time_bounds",
    }
    _write(dataset, "time", "time", days[:-1], time)
    bounds = dataset.createVariable("time_bounds", "f8", ("time", "bounds"))
    bounds[:] = np.column_stack([days[:-1], days[1:]])
    month = {"units": "1", "long_name": "calendar month, January is 1"}
    _write(dataset, "climatology_month", "climatology_month", np.arange(1.0, 13.0), month)


def _write(
    dataset: netCDF4.Dataset,
    name: str,
    dimension: str,
    values: np.ndarray,
    attributes: Mapping[str, Any],
) -> None:
    # A coordinate may have no missing value in CF, and needs none.
    fill = False if name == dimension else np.nan
    variable = dataset.createVariable(name, "f8", (dimension,), fill_value=fill)
    variable.setncatts(attributes)
    variable[:] = values
