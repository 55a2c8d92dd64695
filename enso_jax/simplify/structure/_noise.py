"""How does the size of an equation's noise follow the season and the state?

As the amplitude of a `TermModel`, fitted by least squares to the square root g of the
noise's variance, which is known exactly::

    g(x, t) = s m(t) prod_k g_k(x)

Where the states of one day of the year all have one g, the noise is additive and there are
no factors. Else the first factor is of the variable that g follows best and the second of
the variable that the rest follows best. Level and season are linear, and are solved for
anew at every try of the factors' numbers.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Final

import jax.numpy as jnp
import numpy as np
import scipy.optimize
from jaxtyping import Float

from enso_jax.models import HARMONICS, Amplitude, Factor, noise
from enso_jax.simplify.structure._library import Values
from enso_jax.simplify.structure._selection import Search
from enso_jax.simplify.structure._shapes import (
    Numbers,
    Product,
    States,
    kept_off_zero,
    shapes_of,
    slices,
    within,
)
from enso_jax.state import MONTHS_PER_YEAR, NAMES

#: The share of g's mean square that the state has to make, for the noise to be multiplicative:
#: a hundredth of the amplitude. What a Heun step makes of additive noise is a hundredth of it.
MULTIPLICATIVE: Final = 1e-4
#: The share of g's mean square that a harmonic has to explain: half a hundredth of the level.
_LEAST_SHARE: Final = 1e-5
#: Fits of six numbers need no more samples, and dozens of them are made.
_FITTED: Final = 2500
_MOST_TRIES: Final = 60
#: What a floor or ceiling that hardly any state reaches may change; it is then left out.
_UNTOUCHED: Final = 1e-6
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
    square = float(np.mean(g**2))
    return within(g, phase) / square if square > _NONE else 0.0


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


@dataclasses.dataclass(frozen=True)
class _Found:
    """Factors with their numbers, and the share of g's mean square that they leave."""

    product: Product
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

    def best(self, product: Product) -> _Found:
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
        return min(NAMES, key=lambda name: within(ratio, slices(self.x[name])))

    def _ratio(self, factor: np.ndarray) -> np.ndarray:
        return self.g / (kept_off_zero(factor) * kept_off_zero(self._cycle(factor)))

    def _cycle(self, factor: np.ndarray) -> np.ndarray:
        """Level and season that fit best beside the values of the factors."""
        columns = factor[:, None] * self.seasons
        solution, *_ = np.linalg.lstsq(columns.T @ columns, columns.T @ self.g)
        return self.seasons @ solution


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
    options = itertools.product(*map(shapes_of, variables))
    return min((fit.best(Product(shapes)) for shapes in options), key=lambda found: found.left)


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
