"""Which shapes may a factor of a noise amplitude have, and where does a fit of one begin?

The shapes of `enso_jax.models`, with numbers that are still to be found::

    ramp     min(max(1 + slope x^power, floor), ceiling),   power 1 or 2
    sigmoid  1 + tanh(slope x)

A fit begins with the slope near zero, and with the lowest and highest mean over slices of
the variable.
"""

import abc
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from jaxtyping import Float

from enso_jax.models import Factor, Ramp, Sigmoid

#: A ramp's floor where no state reaches it, as in the built-in models.
_FLOOR: Final = 0.2
#: The highest ceiling that is looked for; it stands for none.
_HIGHEST: Final = 20.0
#: How far inside its bounds a floor or a ceiling begins.
_INSIDE: Final = 0.05
#: As close to zero as a divisor may come in a first guess.
_TINY: Final = 0.05
#: Slices of a variable, each with as many samples.
_SLICES: Final = 20

States = Mapping[str, Float[np.ndarray, " sample"]]
Numbers = Float[np.ndarray, " number"]


def shapes_of(variable: str) -> tuple["Shape", ...]:
    """The shapes that a factor of that variable may have."""
    return RampShape(variable, 1), RampShape(variable, 2), SigmoidShape(variable)


class Shape(abc.ABC):
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
class RampShape(Shape):
    """`Ramp`: its slope, floor and ceiling."""

    variable: str
    power: int
    low = (-np.inf, 0.0, 1.0)
    high = (np.inf, 1.0, _HIGHEST)
    idle = (np.nan, 0.0, _HIGHEST)

    def start(self, x, ratio):
        slope, middle = _line_near_zero(x[self.variable] ** self.power, ratio)
        curve = means(ratio, slices(x[self.variable])) / middle
        floor, ceiling = np.clip(
            (curve.min(), curve.max()), (_INSIDE, 1.0 + _INSIDE), (1.0 - _INSIDE, _HIGHEST - 1.0)
        )
        return slope, floor, ceiling

    def at(self, x, numbers):
        return np.clip(self._line(x, numbers), numbers[1], numbers[2])

    def factor(self, x, numbers):
        slope, floor, ceiling = map(float, numbers)
        # Where an idle floor would be is not known. The amplitude stays positive all the same.
        lowest = max(float(self._line(x, numbers).min()), 0.0)
        floor = floor if floor > 0.0 else min(_FLOOR, lowest)
        ceiling = ceiling if ceiling < _HIGHEST else np.inf
        return Ramp(self.variable, self.power, slope, floor, ceiling)

    def _line(self, x, numbers):
        return 1.0 + numbers[0] * x[self.variable] ** self.power


@dataclasses.dataclass(frozen=True)
class SigmoidShape(Shape):
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
class Product:
    """Factors whose numbers are not yet known, one after the other in one list."""

    shapes: tuple[Shape, ...]

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
            ratio = ratio / kept_off_zero(shape.at(x, np.array(first)))
        return np.array(numbers)

    def _parts(self, numbers: Numbers) -> Iterator[tuple[Shape, Numbers]]:
        counts = np.cumsum([len(shape.low) for shape in self.shapes])
        return zip(self.shapes, np.split(numbers, counts[:-1]), strict=True)


def kept_off_zero(values: np.ndarray) -> np.ndarray:
    """To divide by, in a first guess."""
    return np.maximum(values, _TINY)


def slices(x: np.ndarray) -> np.ndarray:
    """In which of the variable's slices each sample is."""
    return np.searchsorted(np.quantile(x, np.arange(1, _SLICES) / _SLICES), x)


def means(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The mean of each group."""
    return np.bincount(group, values) / np.maximum(np.bincount(group), 1)


def within(values: np.ndarray, group: np.ndarray) -> float:
    """The mean square of the departures from the groups' means."""
    return float(np.mean((values - means(values, group)[group]) ** 2))
