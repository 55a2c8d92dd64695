"""How does NOAA PSL lay out these fields?

SST in one file, float32, latitudes from north to south, `missing_value` without `_FillValue`;
GODAS in yearly files of packed shorts, in kelvin, levels downward; NCEP/NCAR winds in yearly
files of packed shorts, daily, latitudes from north to south, one pressure level. Times are in
days since 1800-01-01 (SST, GODAS) or hours (NCEP). The files are small cuts: only the region
that the indices need.
"""

import dataclasses
from pathlib import Path
from typing import Final

import cftime
import netCDF4
import numpy as np

from enso_jax.files import whole_file
from enso_jax.observations._record import Record
from enso_jax.observations.fields import KIND_ATTRIBUTE
from enso_jax.observations.synthetic._fields import SyntheticField, synthetic_fields
from enso_jax.state import MONTHS_PER_YEAR


@dataclasses.dataclass(frozen=True)
class _Layout:
    """How PSL stores one field."""

    file: str
    time_units: str
    southward: bool
    stored: str
    scale: float
    offset: float
    units: str
    missing: float


_DAYS: Final = "days since 1800-01-01 00:00:00"
_HOURS: Final = "hours since 1800-01-01 00:00:0.0"
_LAYOUTS: Final = {
    "sst": _Layout("sst.mnmean.nc", _DAYS, True, "f4", 1.0, 0.0, "degC", -9.96921e36),
    "pottmp": _Layout("pottmp.{year:04d}.nc", _DAYS, False, "i2", 1e-3, 285.0, "K", 32767),
    "ucur": _Layout("ucur.{year:04d}.nc", _DAYS, False, "i2", 1e-4, 0.0, "m/s", 32767),
    "uwnd": _Layout("uwnd.{year:04d}.nc", _HOURS, True, "i2", 0.01, 202.66, "m/s", 32767),
}


def write_fields(record: Record, folder: Path, seed: int = 0) -> list[Path]:
    """Writes small fields, in NOAA's layouts, whose indices are those of `record`.

    Packing rounds temperatures to .001 K, currents to .0001 m/s and winds to .01 m/s, which
    leaves the box means right to about .001 m, 1e-5 m/s and 1e-4 m/s.

    Args:
        record: as for `synthetic_fields`.
        folder: made if it is not there.
        seed: of the weather in the daily winds.

    Returns:
        The files.

    Raises:
        OutputError: if the files cannot be written.
        ValueError: as `synthetic_fields`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for field in synthetic_fields(record, seed):
        layout = _LAYOUTS[field.name]
        years = field.months // MONTHS_PER_YEAR
        groups = np.unique(years) if "{year" in layout.file else [int(years[0])]
        for year in groups:
            chosen = years == year if "{year" in layout.file else years >= year
            path = folder / layout.file.format(year=int(year))
            with whole_file(path) as unfinished:
                _write(unfinished, field, layout, np.flatnonzero(chosen))
            written.append(path)
    return written


def _write(path: Path, field: SyntheticField, layout: _Layout, times: np.ndarray) -> None:
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.setncattr(KIND_ATTRIBUTE, "simulated" if field.simulated else "measured")
        dataset.setncattr("title", "Synthetic fields in the layout of NOAA PSL")
        north = slice(None, None, -1) if layout.southward else slice(None)
        _coordinate(dataset, "time", None, _times(field, layout, times), layout.time_units)
        if field.level.size:
            units = "millibar" if field.name == "uwnd" else "m"
            _coordinate(dataset, "level", field.level.size, field.level, units)
        _coordinate(dataset, "lat", field.latitude.size, field.latitude[north], "degrees_north")
        _coordinate(dataset, "lon", field.longitude.size, field.longitude, "degrees_east")
        dimensions = ("time", "level", "lat", "lon") if field.level.size else ("time", "lat", "lon")
        variable = dataset.createVariable(
            field.name, layout.stored, dimensions, fill_value=False, compression="zlib", complevel=1
        )
        variable.set_auto_maskandscale(False)
        missing = np.array(layout.missing, dtype=layout.stored)
        variable.setncatts({"units": layout.units, "missing_value": missing})
        if layout.stored == "i2":
            variable.setncatts(
                {"scale_factor": np.float32(layout.scale), "add_offset": np.float32(layout.offset)}
            )
        variable[:] = _stored(field.values[times][..., north, :], layout)


def _coordinate(
    dataset: netCDF4.Dataset, name: str, size: int | None, values: np.ndarray, units: str
) -> None:
    dataset.createDimension(name, size)
    variable = dataset.createVariable(name, "f8" if name == "time" else "f4", (name,))
    variable.units = units
    variable[:] = values


def _times(field: SyntheticField, layout: _Layout, times: np.ndarray) -> np.ndarray:
    years, months = np.divmod(field.months[times], MONTHS_PER_YEAR)
    dates = [
        cftime.DatetimeGregorian(int(year), int(month) + 1, int(day))
        for year, month, day in zip(years, months, field.days[times], strict=True)
    ]
    return np.asarray(cftime.date2num(dates, layout.time_units, "standard"), dtype=np.float64)


def _stored(values: np.ndarray, layout: _Layout) -> np.ndarray:
    if layout.units == "K":
        values = values + 273.15
    # As they will be read back: scale and offset are stored in float32.
    scale, offset = float(np.float32(layout.scale)), float(np.float32(layout.offset))
    packed = (values - offset) / scale
    if layout.stored == "i2":
        packed = np.round(packed)
    return np.where(np.isfinite(values), packed, layout.missing).astype(layout.stored)
