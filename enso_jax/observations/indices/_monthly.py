"""What is the value of an index in every month, before a climatology is removed?

At each time the field becomes one number for each column of the box, and these a mean over
the cells that have one::

    index(t) = sum_c w_c x_c(t) / sum_c w_c,   over the cells c where x_c(t) is there

Land has no value and so no weight. A mean that rests on less than half of what the same box
has in its best month is refused, and so is a missing month or day: an index has no gaps and
no NaN. Months whose box is less complete than the best are counted and told.
"""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from enso_jax.observations._errors import ObservationError
from enso_jax.observations.fields import Block, Field
from enso_jax.observations.indices._isotherm import isotherm_depth
from enso_jax.observations.indices._recipe import Recipe
from enso_jax.state import month_label

#: A box mean must rest on at least this part of the weight of its most complete time.
_LEAST_COVERAGE: Final = 0.5
_ROUNDING: Final = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class MonthlyIndex:
    """An index month by month, without gaps and never NaN.

    Attributes:
        name: which index.
        first_month: integer date of the first value.
        values: (months,) in the units of `state.VARIABLES`; not anomalies.
        incomplete: how many months rest on fewer cells than the most complete one.
    """

    name: str
    first_month: int
    values: np.ndarray
    incomplete: int


def monthly_index(field: Field, name: str, recipe: Recipe) -> MonthlyIndex:
    """The index `name` from its field.

    Raises:
        ObservationError: if a month or a day is missing or there twice, or a box has too few
            values; the sentence names the file.
    """
    samples = _samples(field, name, recipe)
    first, values, complete = _MONTHS_FROM[name](samples, field.name)
    return MonthlyIndex(name, first, values, int(np.sum(~complete)))


# --- From a field to a number for each time -------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class _Samples:
    """Box means, one for each time of the field's files; (times,) each."""

    months: np.ndarray
    days: np.ndarray
    days_in_month: np.ndarray
    values: np.ndarray
    complete: np.ndarray
    paths: list[Path]

    def path(self, month: int) -> Path:
        """A file that has `month`."""
        return self.paths[int(np.argmax(self.months == month))]


def _samples(field: Field, name: str, recipe: Recipe) -> _Samples:
    box = recipe.boxes[name]
    found: list[tuple[Block, np.ndarray, np.ndarray]] = []
    for block in field.blocks(box, _LEVELS[name](recipe)):
        weights = recipe.weighting(block.latitude, block.longitude, box)
        columns = _COLUMN_OF[name](recipe.missing(block.values), block.level, recipe)
        # Only a block's coordinates are kept, so that memory does not grow with the record.
        found.append((dataclasses.replace(block, values=np.empty(0)), *_box_mean(columns, weights)))
    samples, weight = _in_order(found)
    _check_coverage(samples, weight, name)
    return samples


def _in_order(
    found: list[tuple[Block, np.ndarray, np.ndarray]],
) -> tuple[_Samples, np.ndarray]:
    """Blocks, means and weights as one series in order of time, whose files may overlap."""
    blocks, means, weights = zip(*found, strict=True)
    months = np.concatenate([block.months for block in blocks])
    days = np.concatenate([block.days for block in blocks])
    order = np.lexsort((days, months))
    weight = np.concatenate(weights)[order]
    paths = [block.path for block in blocks for _ in block.months]
    samples = _Samples(
        months=months[order],
        days=days[order],
        days_in_month=np.concatenate([block.days_in_month for block in blocks])[order],
        values=np.concatenate(means)[order],
        complete=weight >= weight.max() * (1 - _ROUNDING),
        paths=[paths[time] for time in order],
    )
    return samples, weight


def _box_mean(columns: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(times,) weighted means of (times, rows, columns), NaN where nothing is there; and (times,)
    the weight on which each rests."""
    present = np.isfinite(columns)
    weight = np.sum(present * weights, axis=(1, 2))
    total = np.sum(np.where(present, columns, 0.0) * weights, axis=(1, 2))
    return np.divide(total, weight, out=np.full_like(total, np.nan), where=weight > 0), weight


def _check_coverage(samples: _Samples, weight: np.ndarray, name: str) -> None:
    poor = ~(weight > 0) | (weight < _LEAST_COVERAGE * weight.max())
    if poor.any():
        time = int(np.argmax(poor))
        share = weight[time] / weight.max() if weight.max() > 0 else 0.0
        why = ", for want of a 20 degC isotherm or of data" if name == "h_W" else ""
        raise ObservationError(
            f"{samples.paths[time]}: in {month_label(int(samples.months[time]))} only {share:.0%} "
            f"of the box of {name} has a value{why}; bring a file with the others."
        )


def _only_level(values: np.ndarray, level: np.ndarray, recipe: Recipe) -> np.ndarray:
    return values[:, 0]


def _isotherm(values: np.ndarray, level: np.ndarray, recipe: Recipe) -> np.ndarray:
    return isotherm_depth(values, level, recipe.isotherm_degc)


def _mean_over_levels(values: np.ndarray, level: np.ndarray, recipe: Recipe) -> np.ndarray:
    """The mean of the levels that have a value: the bottom may be shallower than the last."""
    present = np.isfinite(values)
    count = present.sum(axis=1)
    total = np.where(present, values, 0.0).sum(axis=1)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


_COLUMN_OF: Final[dict[str, Callable[[np.ndarray, np.ndarray, Recipe], np.ndarray]]] = {
    "T_C": _only_level,
    "T_E": _only_level,
    "h_W": _isotherm,
    "u": _mean_over_levels,
    "tau": _only_level,
}


def _surface(recipe: Recipe) -> Callable[[np.ndarray], np.ndarray]:
    return lambda level: np.arange(level.size) == np.argmin(level)


def _every_level(recipe: Recipe) -> Callable[[np.ndarray], np.ndarray]:
    return np.isfinite


def _upper_levels(recipe: Recipe) -> Callable[[np.ndarray], np.ndarray]:
    return lambda level: level <= recipe.current_to_m + 1e-3


def _wind_level(recipe: Recipe) -> Callable[[np.ndarray], np.ndarray]:
    """The pressure level; a file without a pressure axis is taken to be at it."""
    return lambda level: (np.abs(level - recipe.wind_hpa) < 0.5) | (level == 0.0)


_LEVELS: Final = {
    "T_C": _surface,
    "T_E": _surface,
    "h_W": _every_level,
    "u": _upper_levels,
    "tau": _wind_level,
}


# --- From numbers for each time to numbers for each month -----------------------------

_Months = tuple[int, np.ndarray, np.ndarray]


def _monthly_means(samples: _Samples, field: str) -> _Months:
    """Of a field of monthly means: its values in order, each month once."""
    for row in np.flatnonzero(np.diff(samples.months) != 1):
        month, following = int(samples.months[row]), int(samples.months[row + 1])
        if following == month:
            raise ObservationError(
                f"{samples.paths[row + 1]}: {field} has {month_label(month)} twice, also in "
                f"{samples.paths[row]}; remove one, or bring monthly means."
            )
        raise _gap(samples.paths[row + 1], field, month, following)
    return int(samples.months[0]), samples.values, samples.complete


def _means_of_days(samples: _Samples, field: str) -> _Months:
    """Of a daily field: the mean of each month's days, all of which must be there, each once."""
    found, start, count = np.unique(samples.months, return_index=True, return_counts=True)
    for row in np.flatnonzero(np.diff(found) != 1):
        raise _gap(samples.path(found[row + 1]), field, int(found[row]), int(found[row + 1]))
    for month, first, days in zip(found, start, count, strict=True):
        here = samples.months == month
        distinct = np.unique(samples.days[here]).size
        if distinct != samples.days_in_month[first] or days != distinct:
            raise ObservationError(
                f"{samples.path(month)}: {field} has {days} values on {distinct} of the "
                f"{samples.days_in_month[first]} days of {month_label(int(month))}; "
                "bring one for each day."
            )
    position = samples.months - found[0]
    means = np.bincount(position, samples.values) / np.bincount(position)
    complete = np.bincount(position, ~samples.complete) == 0
    return int(found[0]), means, complete


def _gap(path: Path, field: str, before: int, after: int) -> ObservationError:
    first, last = month_label(before + 1), month_label(after - 1)
    missing = first if first == last else f"{first} to {last}"
    return ObservationError(
        f"{path}: {field} goes on here after {month_label(before)}, without {missing}; "
        "bring the file of the months between."
    )


_MONTHS_FROM: Final[dict[str, Callable[[_Samples, str], _Months]]] = {
    "T_C": _monthly_means,
    "T_E": _monthly_means,
    "h_W": _monthly_means,
    "u": _monthly_means,
    "tau": _means_of_days,
}


# --- Along the equator ------------------------------------------------------------------


def equatorial_rows(field: Field, name: str, recipe: Recipe) -> Iterator[tuple[Block, np.ndarray]]:
    """Blocks of a field, and (times, columns) its mean from south to north of a box."""
    box = recipe.boxes[name]
    for block in field.blocks(box, _surface(recipe)):
        weights = recipe.weighting(block.latitude, block.longitude, box)
        present = np.isfinite(block.values[:, 0])
        weight = np.sum(present * weights, axis=1)
        total = np.sum(np.where(present, block.values[:, 0], 0.0) * weights, axis=1)
        yield (
            block,
            np.divide(total, weight, out=np.full(total.shape, np.nan), where=weight > 0),
        )
