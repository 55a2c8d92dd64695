"""Gridded fields in other people's layouts: one field in memory, many ways to write it."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import cftime
import netCDF4
import numpy as np

from enso_jax.observations.synthetic import SyntheticField

FILL = -9.96921e36


@dataclasses.dataclass(frozen=True)
class RawLayout:
    """How a field lies in files; the defaults are CF at its plainest.

    Attributes:
        west_first: the longitude at which files begin, so -180 gives -180..180.
        southward, upward: latitudes from north to south, levels from below.
        stored: NetCDF type; integers are packed with `scale`.
        fill: attributes that name the missing value, which is `missing`.
        extra_level: a level axis of size 1 where the field has none.
        calendar, time_units, day: of the time axis; the day of monthly means.
        yearly: a file for each year.
        format: of the NetCDF library.
        kelvin: temperatures in K.
        order: names of the dimensions in the order in which they are stored.
        names: what time, level, lat, lon and the variable are called.
        backward: times from the last to the first.
        with_attributes: whether coordinates have units and axis.
    """

    west_first: float = 0.0
    southward: bool = False
    upward: bool = False
    stored: str = "f8"
    scale: float = 1.0
    fill: tuple[str, ...] = ("_FillValue",)
    missing: float = FILL
    extra_level: bool = False
    calendar: str = "standard"
    time_units: str = "days since 1800-01-01"
    day: int = 1
    yearly: bool = False
    format: str = "NETCDF4"
    kelvin: bool = False
    order: tuple[str, ...] = ("time", "level", "lat", "lon")
    names: tuple[tuple[str, str], ...] = ()
    backward: bool = False
    with_attributes: bool = True


def write_layout(field: SyntheticField, folder: Path, layout: RawLayout) -> list[Path]:
    """The files of `field` in `layout`."""
    if layout.calendar == "noleap":
        field = without_leap_days(field)
    years = field.months // 12
    spans = [years == year for year in np.unique(years)] if layout.yearly else [years > 0]
    paths = []
    for span in spans:
        times = np.flatnonzero(span)
        path = folder / f"{field.name}.{years[times[0]]}.nc"
        _write(path, field, layout, times[::-1] if layout.backward else times)
        paths.append(path)
    return paths


def without_leap_days(field: SyntheticField) -> SyntheticField:
    """29 February taken out; the month's mean then is one of 28 days."""
    kept = ~((field.months % 12 == 1) & (field.days == 29))
    return dataclasses.replace(
        field, months=field.months[kept], days=field.days[kept], values=field.values[kept]
    )


def _write(path: Path, field: SyntheticField, layout: RawLayout, times: Sequence[int]) -> None:
    longitude = (field.longitude - layout.west_first) % 360.0 + layout.west_first
    columns = np.argsort(longitude)
    rows = np.arange(field.latitude.size)[:: -1 if layout.southward else 1]
    values = field.values[np.asarray(times)][..., rows, :][..., columns]
    level = field.level
    if level.size and layout.upward:
        level, values = level[::-1], values[:, ::-1]
    if not level.size and layout.extra_level:
        level, values = np.zeros(1), values[:, np.newaxis]
    axes = {
        "time": _numbers(field, layout, times),
        **({"level": level} if level.size else {}),
        "lat": field.latitude[rows],
        "lon": longitude[columns],
    }
    attributes = {
        "time": {"units": layout.time_units, "calendar": layout.calendar},
        "level": {"units": "hPa" if field.name == "uwnd" else "m", "positive": "down"},
        "lat": {"units": "degrees_north"},
        "lon": {"units": "degrees_east"},
    }
    called = dict(layout.names)
    with netCDF4.Dataset(path, "w", format=layout.format) as dataset:
        for name, numbers in axes.items():
            dataset.createDimension(called.get(name, name), numbers.size)
            variable = dataset.createVariable(
                called.get(name, name), "f8", (called.get(name, name),)
            )
            if layout.with_attributes or name == "time":
                variable.setncatts(attributes[name])
            variable[:] = numbers
        order = [name for name in layout.order if name in axes]
        variable = dataset.createVariable(
            called.get(field.name, field.name),
            layout.stored,
            [called.get(name, name) for name in order],
            fill_value=np.array(layout.missing, layout.stored)
            if "_FillValue" in layout.fill
            else False,
        )
        variable.set_auto_maskandscale(False)
        if "missing_value" in layout.fill:
            variable.missing_value = np.array(layout.missing, layout.stored)
        kelvin = layout.kelvin and field.units == "degC"
        variable.units = "K" if kelvin else field.units
        offset = 0.0
        if np.dtype(layout.stored).kind == "i":
            offset = 290.0 if kelvin else 0.0
            variable.setncatts({"scale_factor": layout.scale, "add_offset": offset})
        shown = values + (273.15 if kelvin else 0.0)
        packed = (shown - offset) / layout.scale
        if np.dtype(layout.stored).kind == "i":
            packed = np.round(packed)
        packed = np.where(np.isfinite(values), packed, layout.missing)
        variable[:] = packed.astype(layout.stored).transpose([list(axes).index(n) for n in order])


def _numbers(field: SyntheticField, layout: RawLayout, times: Sequence[int]) -> np.ndarray:
    dates = [
        cftime.datetime(
            int(field.months[time]) // 12,
            int(field.months[time]) % 12 + 1,
            int(field.days[time]) if field.name == "uwnd" else layout.day,
            calendar=layout.calendar,
        )
        for time in times
    ]
    return np.asarray(cftime.date2num(dates, layout.time_units, layout.calendar), float)
