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
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import jax.numpy as jnp
import numpy as np
import scipy.optimize
from jaxtyping import Float

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
_FITTED: Final = 2500
_MOST_TRIES: Final = 60
#: As close to zero as a first guess may come, as a share of the level.
_TINY: Final = 0.05
#: What a floor or ceiling that hardly any state reaches may change; it is then left out.
_UNTOUCHED: Final = 1e-6
#: Slices of a variable, each with as many samples, in which the mean of g is taken.
_SLICES: Final = 20
#: A ramp's floor where no state reaches it, as in the built-in models.
_FLOOR: Final = 0.2
#: A ramp's highest ceiling: there is none.
_HIGHEST: Final = 20.0
#: Phases of the year that are this close are one, months.
_SAME_PHASE: Final = 1e-6
#: A mean square, nondimensional, under which there is no noise.
_NONE: Final = 1e-20

States = Mapping[str, Float[np.ndarray, " sample"]]
Numbers = Float[np.ndarray, " number"]


def state_dependence(g: Float[np.ndarray, " sample"], t: Float[np.ndarray, " sample"]) -> float:
    """The share of g's mean square that is its variance among samples of one phase of the year.

    It is a share of the mean square and not of the variance, of which rounding would be all
    where the amplitude is constant. 0 for additive noise, and where there is none.
    """
    phases = np.round((t % MONTHS_PER_YEAR) / _SAME_PHASE) % round(MONTHS_PER_YEAR / _SAME_PHASE)
    _, phase = np.unique(phases, return_inverse=True)
    square = float(np.mean(g**2))
    return _within(g, phase) / square if square > _NONE else 0.0


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
    """A factor whose numbers are not yet known.

    Attributes:
        low, high: between what its numbers are.
        idle: for each number the value at which it does nothing, NaN if there is none.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    idle: tuple[float, ...]

    @abc.abstractmethod
    def start(self, x: States, ratio: np.ndarray) -> tuple[float, ...]:
        """A first guess, from what it should be at every sample."""

    @abc.abstractmethod
    def at(self, x: States, numbers: Numbers) -> np.ndarray:
        """Its values."""

    @abc.abstractmethod
    def factor(self, x: States, numbers: Numbers) -> Factor:
        """What it is with these numbers."""


@dataclasses.dataclass(frozen=True)
class _RampShape(_Shape):
    """`Ramp`: its slope, floor and ceiling."""

    variable: str
    power: int
    low = (-np.inf, 0.0, 1.0)
    high = (np.inf, 1.0, _HIGHEST)
    idle = (np.nan, 0.0, _HIGHEST)

    def start(self, x, ratio):
        slope, middle = _line_near_zero(x[self.variable] ** self.power, ratio)
        curve = _means(ratio, _slices(x[self.variable])) / middle
        floor, ceiling = np.clip((curve.min(), curve.max()), (0.05, 1.05), (0.95, _HIGHEST - 1.0))
        return slope, floor, ceiling

    def at(self, x, numbers):
        return np.clip(self._line(x, numbers), numbers[1], numbers[2])

    def factor(self, x, numbers):
        slope, floor, ceiling = map(float, numbers)
        # Where an idle floor would be is not known. The amplitude stays positive all the same.
        lowest = max(float(self._line(x, numbers).min()), 0.0)
        floor = floor if floor > 0.0 else min(_FLOOR, lowest)
        return Ramp(
            self.variable, self.power, slope, floor, ceiling if ceiling < _HIGHEST else np.inf
        )

    def _line(self, x, numbers):
        return 1.0 + numbers[0] * x[self.variable] ** self.power


@dataclasses.dataclass(frozen=True)
class _SigmoidShape(_Shape):
    """`Sigmoid`: its slope."""

    variable: str
    low = (-np.inf,)
    high = (np.inf,)
    idle = (np.nan,)

    def start(self, x, ratio):
        slope, _ = _line_near_zero(x[self.variable], ratio)
        return (slope,)

    def at(self, x, numbers):
        return 1.0 + np.tanh(numbers[0] * x[self.variable])

    def factor(self, x, numbers):
        return Sigmoid(self.variable, float(numbers[0]))


def _line_near_zero(x: np.ndarray, ratio: np.ndarray) -> tuple[float, float]:
    """b and a of the line ``a (1 + b x)`` through `ratio` at the smaller half of x."""
    near = np.abs(x) <= np.median(np.abs(x))
    slope, middle = np.polyfit(x[near], ratio[near], 1)
    middle = max(float(middle), _TINY)
    return float(slope) / middle, middle


@dataclasses.dataclass(frozen=True)
class _Product:
    """Factors whose numbers are not yet known, one after the other in one list."""

    shapes: tuple[_Shape, ...]

    def side(self, name: str) -> np.ndarray:
        """The bounds or the idle values of all numbers."""
        return np.concatenate([getattr(shape, name) for shape in self.shapes])

    def at(self, x: States, numbers: Numbers) -> np.ndarray:
        """The product of the factors' values."""
        return np.prod([shape.at(x, part) for shape, part in self._parts(numbers)], axis=0)

    def factors(self, x: States, numbers: Numbers) -> tuple[Factor, ...]:
        return tuple(shape.factor(x, part) for shape, part in self._parts(numbers))

    def start(self, x: States, ratio: np.ndarray) -> Numbers:
        """A first guess: each factor makes up for what those before it leave."""
        numbers: list[float] = []
        for shape in self.shapes:
            first = shape.start(x, ratio)
            numbers += first
            ratio = ratio / _kept_off_zero(shape.at(x, np.array(first)))
        return np.array(numbers)

    def _parts(self, numbers: Numbers) -> Iterator[tuple[_Shape, Numbers]]:
        counts = np.cumsum([len(shape.low) for shape in self.shapes])
        return zip(self.shapes, np.split(numbers, counts[:-1]), strict=True)


@dataclasses.dataclass(frozen=True)
class _Found:
    """Factors with their numbers, and the share of g's mean square that they leave."""

    product: _Product
    numbers: Numbers
    left: float


@dataclasses.dataclass(frozen=True)
class _Fit:
    """What an amplitude is fitted to: g, of mean square 1, and the states and seasons of it."""

    g: Float[np.ndarray, " sample"]
    x: States
    seasons: Float[np.ndarray, "sample harmonic"]

    def thinned(self, most: int) -> "_Fit":
        """Evenly chosen samples; all if there are no more than `most`."""
        keep = slice(None, None, -(-len(self.g) // most))
        x = {name: values[keep] for name, values in self.x.items()}
        return _Fit(self.g[keep], x, self.seasons[keep])

    def best(self, product: _Product) -> _Found:
        """The best numbers of the factors, idle where they do nothing."""

        def departures(numbers):
            factor = product.at(self.x, numbers)
            return self.g - factor * self._cycle(factor)

        start = product.start(self.x, self._ratio(np.ones_like(self.g)))
        found = scipy.optimize.least_squares(
            departures,
            start,
            bounds=(product.side("low"), product.side("high")),
            x_scale="jac",
            max_nfev=_MOST_TRIES,
        )
        numbers, left = found.x, np.mean(found.fun**2)
        for place, idle in enumerate(product.side("idle")):
            tried = np.where(np.arange(len(numbers)) == place, idle, numbers)
            if not np.isnan(idle) and np.mean(departures(tried) ** 2) < left + _UNTOUCHED:
                numbers = tried
        return _Found(product, numbers, float(np.mean(departures(numbers) ** 2)))

    def followed(self, factor: np.ndarray) -> str:
        """The variable that g follows best, where it does not follow `factor` and the season."""
        ratio = self._ratio(factor)
        return min(NAMES, key=lambda name: _within(ratio, _slices(self.x[name])))

    def _ratio(self, factor: np.ndarray) -> np.ndarray:
        return self.g / (_kept_off_zero(factor) * _kept_off_zero(self._cycle(factor)))

    def _cycle(self, factor: np.ndarray) -> np.ndarray:
        """Level and season that fit best beside the values of the factors."""
        columns = factor[:, None] * self.seasons
        solution, *_ = np.linalg.lstsq(columns.T @ columns, columns.T @ self.g)
        return self.seasons @ solution


def _kept_off_zero(values: np.ndarray) -> np.ndarray:
    """To divide by, in a first guess."""
    return np.maximum(values, _TINY)


def _factors(fit: _Fit) -> tuple[Factor, ...]:
    first = fit.followed(np.ones_like(fit.g))
    found = _best(fit, first)
    if found.left > MULTIPLICATIVE:
        second = fit.followed(found.product.at(fit.x, found.numbers))
        both = _best(fit, first, second)
        found = both if both.left < found.left - MULTIPLICATIVE else found
    return found.product.factors(fit.x, found.numbers)


def _best(fit: _Fit, *variables: str) -> _Found:
    """The best factors of these variables, one each."""
    options = itertools.product(*map(_shapes, variables))
    return min((fit.best(_Product(shapes)) for shapes in options), key=lambda found: found.left)


def _shapes(variable: str) -> tuple[_Shape, ...]:
    return _RampShape(variable, 1), _RampShape(variable, 2), _SigmoidShape(variable)


def _season(fit: _Fit, factors: Sequence[Factor]) -> tuple[float, dict[str, float]]:
    """The level, and the harmonics that count relative to it."""
    product = np.ones_like(fit.g)
    states = {name: jnp.asarray(values) for name, values in fit.x.items()}
    for factor in factors:
        product = product * np.asarray(factor(states))
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


def _means(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The mean of each group."""
    return np.bincount(group, values) / np.maximum(np.bincount(group), 1)


def _within(values: np.ndarray, group: np.ndarray) -> float:
    """The mean square of the departures from the groups' means."""
    return float(np.mean((values - _means(values, group)[group]) ** 2))
