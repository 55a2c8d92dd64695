"""How does the size of an equation's noise follow the season and the state?

As the amplitude of a `TermModel`, fitted by least squares to the square root g of the
noise's variance, which is known exactly::

    g(x, t) = s m(t) prod_k g_k(x)

Where the states of one day of the year all have one g, the noise is additive and there are
no factors. Else the first factor is of the variable that g follows best and the second of
the variable that the rest follows best. Level and season are linear, and are solved for
anew at every try of the factors' numbers.
"""

import abc
import dataclasses
import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np
import scipy.optimize
from jaxtyping import Array, Float

from enso_jax.models import HARMONICS, Amplitude, Factor, Ramp, Sigmoid, noise
from enso_jax.simplify.structure._library import Values
from enso_jax.simplify.structure._selection import Search
from enso_jax.state import MONTHS_PER_YEAR, NAMES

#: The share of g's mean square that the state has to make, for the noise to be multiplicative:
#: a hundredth of the amplitude. What a Heun step makes of additive noise is a hundredth of it.
MULTIPLICATIVE: Final = 1e-4
#: The share of g's mean square that a harmonic has to explain: half a hundredth of the level.
_LEAST_SHARE: Final = 1e-5
#: Fits of six numbers need no more samples, and dozens of them are made.
_FITTED: Final = 5000
#: Slices of a variable, each with as many samples, in which the mean of g is taken.
_SLICES: Final = 20
#: Where a ramp's floor is out of reach of the states that were seen: that of the built-in models.
_FLOOR: Final = 0.2
_HIGHEST: Final = 20.0
#: Phases of the year that are this close are one, months.
_SAME_PHASE: Final = 1e-6
#: A mean square, nondimensional, under which there is no noise.
_NONE: Final = 1e-20


def state_dependence(g: Float[np.ndarray, " sample"], t: Float[np.ndarray, " sample"]) -> float:
    """The share of g's mean square that is its variance among samples of one phase of the year.

    It is a share of the mean square and not of the variance, of which rounding would be all
    where the amplitude is constant. 0 for additive noise, and where there is none.
    """
    phases = np.round((t % MONTHS_PER_YEAR) / _SAME_PHASE) % round(MONTHS_PER_YEAR / _SAME_PHASE)
    _, phase = np.unique(phases, return_inverse=True)
    return _within(g, phase) / square if (square := np.mean(g**2)) > _NONE else 0.0


def amplitude(
    equation: str,
    g: Float[np.ndarray, " sample"],
    dependence: float,
    x: Values,
    seasons: Values,
) -> Amplitude:
    """The amplitude of one equation.

    Args:
        equation: its variable.
        g: the square root of its noise's variance, nondimensional.
        dependence: its `state_dependence`.
        x, seasons: the states and harmonics at which g is known.
    """
    square = float(np.mean(g**2))
    if square < _NONE:
        return noise(equation, 0.0)
    fit = _Fit(
        g / np.sqrt(square),
        {name: np.asarray(values) for name, values in x.items()},
        np.stack([np.asarray(seasons[name]) for name in HARMONICS], axis=1),
    )
    factors = _factors(fit.thinned(_FITTED)) if dependence > MULTIPLICATIVE else ()
    level, season = _season(fit, factors)
    return noise(equation, level * float(np.sqrt(square)), season, factors)


class _Shape(abc.ABC):
    """A factor whose numbers are not yet known."""

    #: Where its numbers may be.
    low: tuple[float, ...]
    high: tuple[float, ...]

    @abc.abstractmethod
    def start(self, x: Values, ratio: np.ndarray) -> Sequence[float]:
        """A first guess from what it should be at every sample."""

    @abc.abstractmethod
    def at(self, x: Values, numbers: Sequence[float]) -> np.ndarray:
        """Its values."""

    @abc.abstractmethod
    def factor(self, x: Values, numbers: Sequence[float]) -> Factor:
        """What it is with these numbers."""


@dataclasses.dataclass(frozen=True)
class _RampShape(_Shape):
    """`Ramp`: its slope, floor and ceiling."""

    variable: str
    power: int
    low = (-np.inf, 0.0, 1.0)
    high = (np.inf, 1.0, _HIGHEST)

    def start(self, x, ratio):
        slope = _slope(x[self.variable] ** self.power, ratio)
        floor, ceiling = np.clip((ratio.min(), ratio.max()), (0.05, 1.05), (0.95, _HIGHEST - 1.0))
        return slope, floor, ceiling

    def at(self, x, numbers):
        return np.clip(self._line(x, numbers), numbers[1], numbers[2])

    def factor(self, x, numbers):
        slope, floor, ceiling = map(float, numbers)
        line = self._line(x, numbers)
        lowest, highest = float(line.min()), float(line.max())
        # What no state reached is not known. The amplitude stays positive all the same.
        floor = floor if floor > lowest else max(min(_FLOOR, lowest), 0.0)
        return Ramp(self.variable, self.power, slope, floor, min(ceiling, _open(ceiling, highest)))

    def _line(self, x, numbers):
        return 1.0 + numbers[0] * x[self.variable] ** self.power


@dataclasses.dataclass(frozen=True)
class _SigmoidShape(_Shape):
    """`Sigmoid`: its slope."""

    variable: str
    low = (-np.inf,)
    high = (np.inf,)

    def start(self, x, ratio):
        return (_slope(x[self.variable], ratio),)

    def at(self, x, numbers):
        return 1.0 + np.tanh(numbers[0] * x[self.variable])

    def factor(self, x, numbers):
        return Sigmoid(self.variable, float(numbers[0]))


def _open(ceiling: float, highest: float) -> float:
    """Infinite if the ceiling is above all that was seen."""
    return np.inf if ceiling >= highest else ceiling


def _slope(x: np.ndarray, ratio: np.ndarray) -> float:
    """b / a of the line a + b x through `ratio`."""
    b, a = np.polyfit(x, ratio, 1)
    return float(b / a)


@dataclasses.dataclass(frozen=True)
class _Fit:
    """What an amplitude is fitted to: g, of mean square 1, and the states and seasons of it."""

    g: Float[np.ndarray, " sample"]
    x: Values
    seasons: Float[np.ndarray, "sample harmonic"]

    def thinned(self, most: int) -> "_Fit":
        """Evenly chosen samples; all if there are no more than `most`."""
        keep = slice(None, None, -(-len(self.g) // most))
        x = {name: values[keep] for name, values in self.x.items()}
        return _Fit(self.g[keep], x, self.seasons[keep])

    def modulation(self, factor: np.ndarray) -> Float[np.ndarray, " harmonic"]:
        """Level and season that fit best beside the values of the factors."""
        columns = factor[:, None] * self.seasons
        solution, *_ = np.linalg.lstsq(columns.T @ columns, columns.T @ self.g)
        return solution

    def best(self, shapes: Sequence[_Shape]) -> "_Found":
        """The best numbers of the shapes."""
        counts = np.cumsum([len(shape.low) for shape in shapes])

        def split(numbers):
            return np.split(numbers, counts[:-1])

        def values(numbers):
            parts = zip(shapes, split(numbers), strict=True)
            return np.prod([shape.at(self.x, part) for shape, part in parts], axis=0)

        def left(numbers):
            factor = values(numbers)
            return self.g - factor * (self.seasons @ self.modulation(factor))

        start: list[float] = []
        ratio = self.g / self._seasonal(np.ones_like(self.g))
        for shape in shapes:
            first = shape.start(self.x, ratio)
            start += first
            ratio = ratio / np.maximum(shape.at(self.x, first), 0.05)
        bounds = [np.concatenate([getattr(shape, side) for shape in shapes]) for side in ("low", "high")]
        found = scipy.optimize.least_squares(left, start, bounds=bounds, x_scale="jac")
        return _Found(tuple(shapes), tuple(split(found.x)), 2.0 * found.cost / len(self.g), values(found.x))

    def _seasonal(self, factor: np.ndarray) -> np.ndarray:
        """The level in its season, kept off zero to be divided by."""
        return np.maximum(self.seasons @ self.modulation(factor), 0.05)

    def followed(self, factor: np.ndarray) -> str:
        """The variable that g follows best, where it does not follow `factor` and the season."""
        ratio = self.g / (np.maximum(factor, 0.05) * self._seasonal(factor))
        return min(NAMES, key=lambda name: _within(ratio, _slices(self.x[name])))


@dataclasses.dataclass(frozen=True)
class _Found:
    """Factors that were fitted, the mean square that they leave, and their product."""

    shapes: tuple[_Shape, ...]
    numbers: tuple[np.ndarray, ...]
    left: float
    product: Float[np.ndarray, " sample"]


def _factors(fit: _Fit) -> tuple[Factor, ...]:
    first = fit.followed(np.ones_like(fit.g))
    found = _best_of(fit, _shapes(first))
    if found.left > MULTIPLICATIVE:
        second = fit.followed(found.product)
        both = _best_of(fit, _shapes(first), _shapes(second))
        found = both if both.left < found.left - MULTIPLICATIVE else found
    return tuple(
        shape.factor(fit.x, numbers)
        for shape, numbers in zip(found.shapes, found.numbers, strict=True)
    )


def _shapes(variable: str) -> tuple[_Shape, ...]:
    return _RampShape(variable, 1), _RampShape(variable, 2), _SigmoidShape(variable)


def _best_of(fit: _Fit, *alternatives: Sequence[_Shape]) -> _Found:
    options = [fit.best(shapes) for shapes in itertools.product(*alternatives)]
    return min(options, key=lambda found: found.left)


def _season(fit: _Fit, factors: Sequence[Factor]) -> tuple[float, dict[str, float]]:
    """The level, and the harmonics that count relative to it."""
    product = np.ones_like(fit.g)
    for factor in factors:
        product = product * np.asarray(factor(fit.x))
    columns = product[:, None] * fit.seasons
    sizes = np.sqrt(np.mean(columns**2, axis=0))
    table = np.column_stack([columns / sizes, fit.g])
    everything = tuple(range(len(HARMONICS)))
    search = Search(
        table.T @ table / len(table),
        always=(0,),
        parent=np.arange(len(HARMONICS)),
        rivals=np.zeros((len(HARMONICS),) * 2, bool),
    )
    kept = sorted(search.pruned(everything, _LEAST_SHARE))
    level, *others = np.linalg.lstsq(columns[:, kept], fit.g)[0].tolist()
    names = [HARMONICS[place] for place in kept[1:]]
    return level, {name: other / level for name, other in zip(names, others, strict=True)}


def _slices(x: np.ndarray) -> np.ndarray:
    """In which of the slices of a variable each sample is."""
    return np.searchsorted(np.quantile(x, np.arange(1, _SLICES) / _SLICES), x)


def _within(values: np.ndarray, group: np.ndarray) -> float:
    """The mean square of the departures from the groups' means."""
    count = np.maximum(np.bincount(group), 1)
    means = np.bincount(group, values) / count
    return float(np.mean((values - means[group]) ** 2))
