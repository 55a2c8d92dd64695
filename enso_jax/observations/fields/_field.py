"""What are the values of a field in a box, month by month, whatever files hold it?

A field is one quantity on one grid in one or more files. It is read in blocks of time that
fit in little memory, always in the same order: ``(time, level, latitude, longitude)``,
time forward, levels downward, latitudes northward, longitudes eastward, NaN where nothing
was measured.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import netCDF4
import numpy as np

from enso_jax.observations._errors import ObservationError
from enso_jax.observations.fields._axes import Layout, layout_of
from enso_jax.observations.fields._boxes import Box
from enso_jax.observations.fields._netcdf import attribute, decoded, open_netcdf
from enso_jax.observations.fields._quantities import QUANTITIES, Quantity
from enso_jax.observations.fields._times import Times, months_of
from enso_jax.state import month_label

#: 4 MB of float64: what a block may hold, however long its file.
_VALUES_PER_BLOCK: Final = 500_000
_GRID_ROUNDING_DEG: Final = 1e-3

#: Which levels, in metres or hPa, are wanted: (levels,) float -> (levels,) bool.
LevelChoice = Callable[[np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True, eq=False)
class Block:
    """Some times of a field in a box.

    Attributes:
        path: of the file that they are from, for a sentence.
        months, days, days_in_month: (times,) as in `Times`.
        values: (times, levels, rows, columns) in the quantity's units; NaN where missing.
        level: (levels,) metres or hPa, increasing; 0 where the field has none.
        latitude: (rows,) degrees north, increasing.
        longitude: (columns,) degrees east from the box's west edge on, increasing.
    """

    path: Path
    months: np.ndarray
    days: np.ndarray
    days_in_month: np.ndarray
    values: np.ndarray
    level: np.ndarray
    latitude: np.ndarray
    longitude: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """One file of a field: where its values lie, not the values."""

    path: Path
    variable: str
    layout: Layout
    times: Times
    level: np.ndarray
    latitude: np.ndarray
    longitude: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Field:
    """One quantity in one or more files, in order of time.

    Attributes:
        quantity: what it is.
        parts: its files; all on one grid.
    """

    quantity: Quantity
    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        """The quantity's name."""
        return self.quantity.name

    @property
    def paths(self) -> list[Path]:
        """Its files, in order of time."""
        return [part.path for part in self.parts]

    def blocks(self, box: Box, wanted: LevelChoice = np.isfinite) -> Iterator[Block]:
        """Its values in `box`, in order of time, at the levels that are `wanted`.

        Raises:
            ObservationError: if a file has changed its grid, does not cover the box, has none
                of the levels, or holds a value that cannot be.
        """
        first = _cut_of(self.quantity, self.parts[0], box, wanted)
        for part in self.parts:
            cut = _cut_of(self.quantity, part, box, wanted)
            _check_same_grid(self.name, first, cut)
            yield from _blocks_of(self.quantity, cut)


def field_of(name: str, paths: Sequence[Path]) -> Field:
    """The field `name`, a key of `QUANTITIES`, that is in `paths`, in any order.

    Raises:
        ObservationError: if a file is unsound or has no such variable.
    """
    quantity = QUANTITIES[name]
    parts = sorted(
        (_part_of(quantity, Path(path)) for path in paths),
        key=lambda part: (part.times.months[0], part.times.days[0]),
    )
    return Field(quantity, tuple(parts))


def variable_of(dataset: netCDF4.Dataset, quantity: Quantity) -> str | None:
    """The name of the variable of a quantity, by its name, else by its standard name."""
    gridded = [name for name, variable in dataset.variables.items() if variable.ndim >= 3]
    for name in gridded:
        if name.lower() in (quantity.name, *quantity.aliases):
            return name
    for name in gridded:
        if attribute(dataset.variables[name], "standard_name") in quantity.standard_names:
            return name
    return None


def _part_of(quantity: Quantity, path: Path) -> Part:
    with open_netcdf(path) as dataset:
        name = variable_of(dataset, quantity)
        if name is None:
            raise ObservationError(
                f"{path}: has no variable {quantity.name}, only {', '.join(dataset.variables)}; "
                "name it so, or remove the file."
            )
        layout = layout_of(path, dataset, dataset.variables[name])
        times = months_of(path, dataset.variables[layout.names["time"]])
        if times.months.size == 0:
            raise ObservationError(f"{path}: holds no time; fetch or copy it again.")
        return Part(
            path,
            name,
            layout,
            times,
            _levels(dataset, layout),
            _coordinate(dataset, layout.names["latitude"]),
            _coordinate(dataset, layout.names["longitude"]),
        )


def _coordinate(dataset: netCDF4.Dataset, name: str) -> np.ndarray:
    return decoded(dataset.variables[name], np.asarray(dataset.variables[name][:])).ravel()


def _levels(dataset: netCDF4.Dataset, layout: Layout) -> np.ndarray:
    """(levels,) metres downward or hPa; one 0 where there is no such axis."""
    name = layout.names.get("level")
    if name is None:
        return np.zeros(1)
    if name not in dataset.variables:
        return np.arange(float(dataset.dimensions[name].size))
    level = np.abs(_coordinate(dataset, name))
    units = attribute(dataset.variables[name], "units").lower()
    return level * {"pa": 0.01, "cm": 0.01, "centimeters": 0.01, "km": 1000.0}.get(units, 1.0)


@dataclasses.dataclass(frozen=True, eq=False)
class _Cut:
    """What is wanted of a file: indices along its axes, and the coordinates there."""

    part: Part
    levels: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    level: np.ndarray
    latitude: np.ndarray
    longitude: np.ndarray


def _cut_of(quantity: Quantity, part: Part, box: Box, wanted: LevelChoice) -> _Cut:
    rows, columns = box.rows(part.latitude), box.columns(part.longitude)
    latitude, longitude = part.latitude[rows], box.eastward(part.longitude[columns])
    if trouble := box.uncovered(longitude, latitude):
        raise ObservationError(
            f"{part.path}: {trouble}; bring {quantity.name} for the whole of the box."
        )
    levels = np.flatnonzero(wanted(part.level))
    levels = levels[np.argsort(part.level[levels])]
    if levels.size == 0:
        found = ", ".join(f"{level:g}" for level in part.level[:8])
        raise ObservationError(
            f"{part.path}: has none of the levels of {quantity.name} that an index needs, only "
            f"{found}; bring those levels."
        )
    return _Cut(part, levels, rows, columns, part.level[levels], latitude, longitude)


def _check_same_grid(name: str, first: _Cut, cut: _Cut) -> None:
    for what in ("level", "latitude", "longitude"):
        one, other = getattr(first, what), getattr(cut, what)
        if one.shape != other.shape or np.abs(one - other).max() > _GRID_ROUNDING_DEG:
            raise ObservationError(
                f"{cut.part.path}: its {what}s of {name} are not those of {first.part.path}; "
                "give all files of a field one grid."
            )


def _blocks_of(quantity: Quantity, cut: _Cut) -> Iterator[Block]:
    part = cut.part
    forward = np.lexsort((part.times.days, part.times.months))
    step = max(1, _VALUES_PER_BLOCK // (cut.levels.size * cut.rows.size * cut.columns.size))
    with open_netcdf(part.path) as dataset:
        variable = dataset.variables[part.variable]
        units = attribute(variable, "units")
        for start in range(0, forward.size, step):
            chosen = forward[start : start + step]
            values = _read(cut, variable, chosen)
            finite = values[np.isfinite(values)]
            scale, offset = quantity.conversion(
                part.path, units, float(np.median(finite)) if finite.size else 0.0
            )
            values = values * scale + offset
            quantity.check_plausible(part.path, values)
            yield Block(
                part.path,
                part.times.months[chosen],
                part.times.days[chosen],
                part.times.days_in_month[chosen],
                values,
                cut.level,
                cut.latitude,
                cut.longitude,
            )


def _read(cut: _Cut, variable: netCDF4.Variable, times: np.ndarray) -> np.ndarray:
    """(times, levels, rows, columns) float64, in whatever order the file has its dimensions."""
    part, order = cut.part, cut.part.layout.order
    wanted = {"time": times, "level": cut.levels, "latitude": cut.rows, "longitude": cut.columns}
    only = np.zeros(1, dtype=np.int64)
    try:
        stored = _hyperslab(variable, [only if axis is None else wanted[axis] for axis in order])
    except (RuntimeError, OSError) as error:
        raise ObservationError(
            f"{part.path}: {part.variable} from {month_label(int(part.times.months[times[0]]))} on "
            f"cannot be read ({error}), perhaps the file is damaged; fetch or copy it again."
        ) from error
    values = decoded(variable, stored)[tuple(0 if axis is None else slice(None) for axis in order)]
    kept = [axis for axis in order if axis is not None]
    if "level" not in kept:
        values, kept = values[np.newaxis], ["level", *kept]
    return values.transpose([kept.index(axis) for axis in wanted])


def _hyperslab(variable: netCDF4.Variable, indices: Sequence[np.ndarray]) -> np.ndarray:
    """The values at every combination of `indices`, read as the fewest contiguous pieces.

    Only the axes that are cut in two (longitudes across the seam of the file) make more
    pieces than one.
    """
    return _pieces(variable, list(indices), ())


def _pieces(
    variable: netCDF4.Variable, indices: list[np.ndarray], slices: tuple[slice, ...]
) -> np.ndarray:
    axis = len(slices)
    if axis == len(indices):
        return np.ma.getdata(variable[slices])
    ordered = np.unique(indices[axis])
    runs = np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1)
    pieces = [
        _pieces(variable, indices, (*slices, slice(int(run[0]), int(run[-1]) + 1))) for run in runs
    ]
    joined = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis)
    return np.take(joined, np.searchsorted(ordered, indices[axis]), axis)
