"""Which dimension of a variable is time, which level, latitude and longitude?

The attributes `axis`, `standard_name`, `units` and `positive` of its coordinate decide,
else its name. A dimension of size 1 that is none of these is no axis at all.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import netCDF4

from enso_jax.observations._errors import ObservationError
from enso_jax.observations.fields._netcdf import attribute

Axis = Literal["time", "level", "latitude", "longitude"]

_BY_LETTER: Final[dict[str, Axis]] = {
    "T": "time",
    "Z": "level",
    "Y": "latitude",
    "X": "longitude",
}
_BY_NAME: Final[dict[str, Axis]] = {
    **dict.fromkeys(("time", "t"), "time"),
    **dict.fromkeys(("level", "lev", "depth", "deptht", "plev", "z", "st_ocean"), "level"),
    **dict.fromkeys(("lat", "latitude", "y", "nav_lat"), "latitude"),
    **dict.fromkeys(("lon", "longitude", "x", "nav_lon"), "longitude"),
}
_BY_STANDARD_NAME: Final[dict[str, Axis]] = {
    "time": "time",
    "depth": "level",
    "air_pressure": "level",
    "latitude": "latitude",
    "longitude": "longitude",
}


@dataclasses.dataclass(frozen=True)
class Layout:
    """How a variable's dimensions lie.

    Attributes:
        order: for each dimension what it is, None for a dimension of size 1 without meaning.
        names: the dimension of each axis that there is.
    """

    order: tuple[Axis | None, ...]
    names: Mapping[Axis, str]


def layout_of(path: Path, dataset: netCDF4.Dataset, variable: netCDF4.Variable) -> Layout:
    """The layout of `variable`.

    Raises:
        ObservationError: if time, latitude or longitude is not found, or found twice.
    """
    order: list[Axis | None] = []
    names: dict[Axis, str] = {}
    for dimension, size in zip(variable.dimensions, variable.shape, strict=True):
        axis = _axis_of(dataset, dimension)
        if axis is None and size != 1:
            raise ObservationError(
                f"{path}: dimension {dimension} of {variable.name} is neither time, level, "
                "latitude nor longitude; give its coordinate an attribute axis (T, Z, Y or X)."
            )
        if axis is not None and axis in names:
            raise ObservationError(
                f"{path}: {variable.name} has two dimensions of {axis}, {names[axis]} and "
                f"{dimension}; remove one, or give both an attribute axis."
            )
        order.append(axis)
        if axis is not None:
            names[axis] = dimension
    for axis in ("time", "latitude", "longitude"):
        if axis not in names or names[axis] not in dataset.variables:
            raise ObservationError(
                f"{path}: {variable.name} has no coordinate of {axis}; add one, with its units."
            )
    return Layout(tuple(order), names)


def _axis_of(dataset: netCDF4.Dataset, dimension: str) -> Axis | None:
    if dimension in dataset.variables:
        coordinate = dataset.variables[dimension]
        units = attribute(coordinate, "units").lower()
        standard_name = attribute(coordinate, "standard_name").lower()
        if (letter := attribute(coordinate, "axis").upper()) in _BY_LETTER:
            return _BY_LETTER[letter]
        if standard_name in _BY_STANDARD_NAME:
            return _BY_STANDARD_NAME[standard_name]
        if " since " in units:
            return "time"
        if units.startswith("degree") and units.endswith(("north", "_n", "n")):
            return "latitude"
        if units.startswith("degree") and units.endswith(("east", "_e", "e")):
            return "longitude"
        if attribute(coordinate, "positive") or units in ("millibar", "hpa", "pa"):
            return "level"
    return _BY_NAME.get(dimension.lower())
