"""What are the terms of an equation's drift?

The fewest columns of a library whose sum is the drift, which is known exactly::

    f_i(x, t) = sum_k a_k h_k(t) f_k(x)

Where a saturating square bends is not linear: between one search and the next it is moved
to where the least is left unexplained.
"""

import dataclasses
import math
from typing import Final

import numpy as np
import scipy.optimize
from jaxtyping import Float

from enso_jax.models import HARMONICS, Saturating, Term, drift
from enso_jax.simplify.structure._library import ALWAYS, Column, Library, Values, evaluated
from enso_jax.simplify.structure._selection import Chosen, Search

#: The share of a drift's variance that each of its terms has to explain alone. The least that
#: a term of the built-in models explains is 6e-5; what a Heun step adds to an Euler step
#: explains less than 1e-5.
LEAST_SHARE: Final = 2e-5
#: The share that a column has to gain when it is added: so little that all columns of a small
#: term are found before any is dropped.
_LEAST_GAIN: Final = 1e-6
#: A linear coupling that explains less is rounding, or what is left of a finer step scheme.
_NOTHING: Final = 1e-7
#: What rounding makes of a drift that is zero, nondimensional, is a thousandth of it and less.
_NO_DRIFT: Final = 1e-10
#: Where a bend is looked for, in standard deviations of its variable. Closer to zero the square
#: is a constant and farther out a plain square.
_BENDS: Final = (0.5, 8.0)
#: A bend that moves less, as a share of itself, stays.
_STILL: Final = 1e-4
#: The most searches, with bends moved in between; the second finds a model of the library.
_ROUNDS: Final = 4


def drift_terms(
    equation: str, f: Float[np.ndarray, " sample"], library: Library, x: Values, seasons: Values
) -> tuple[Term, ...]:
    """The terms of one equation.

    Args:
        equation: its variable.
        f: its drift, nondimensional.
        library: of what it may be made.
        x, seasons: the states and harmonics at which f and the library are known.
    """
    size, deviation = np.sqrt(np.mean(f**2)), np.std(f)
    if size < _NO_DRIFT:
        return ()
    # A drift that hardly varies is a constant with rounding.
    goal = _Goal(f / (deviation if deviation > _NO_DRIFT * size else size), x, seasons)
    chosen: Chosen = ALWAYS
    for _ in range(_ROUNDS):
        search, before = goal.search(library), set(chosen)
        chosen = search.pruned(search.extended(chosen, _LEAST_GAIN), LEAST_SHARE)
        chosen = search.exchanged(chosen)
        library, moved = goal.bent(library, chosen)
        if not moved and set(chosen) == before:
            break
    search = goal.search(library)
    chosen = search.pruned(chosen, LEAST_SHARE)
    chosen = dataclasses.replace(search, always=()).pruned(chosen, _NOTHING)
    return _written(equation, f, library, chosen)


@dataclasses.dataclass(frozen=True)
class _Goal:
    """What a drift is fitted to.

    Attributes:
        target: the drift, of variance 1, or of mean square 1 if it does not vary.
        x, seasons: the states and harmonics at which it is known.
    """

    target: Float[np.ndarray, " sample"]
    x: Values
    seasons: Values

    def search(self, library: Library) -> Search:
        """The search for this target in a library."""
        product = library.values @ self.target / len(self.target)
        square = np.mean(self.target**2)
        return Search(
            np.block([[library.moments, product[:, None]], [product[None, :], square]]),
            ALWAYS,
            _parents(library.columns),
            _rivals(library.columns),
        )

    def bent(self, library: Library, chosen: Chosen) -> tuple[Library, bool]:
        """The library with the chosen saturating squares at their best, and whether any moved."""
        moved = False
        for formula in dict.fromkeys(library.columns[number].formula for number in chosen):
            feature = Column(formula, HARMONICS[0]).feature
            if isinstance(feature, Saturating):
                best = self._best_bend(feature, library, chosen)
                library = library.replaced(formula, best.text(), self.x, self.seasons)
                moved |= not math.isclose(best.scale, feature.scale, rel_tol=_STILL)
        return library, moved

    def _best_bend(self, feature: Saturating, library: Library, chosen: Chosen) -> Saturating:
        """The square that leaves the least unexplained beside the other chosen columns."""
        own = [number for number in library.indices(feature.text()) if number in chosen]
        others = [number for number in chosen if number not in own]
        basis, _ = np.linalg.qr(library.values[others].T)

        def left(values):
            return values - basis @ (basis.T @ values)

        def at(log_scale):
            return Saturating(feature.variable, math.exp(log_scale))

        def unexplained(log_scale):
            formula = at(log_scale).text()
            columns = [Column(formula, library.columns[number].harmonic) for number in own]
            part = left(evaluated(columns, self.x, self.seasons)[0].T)
            coefficients, *_ = np.linalg.lstsq(part, goal)
            return np.mean((goal - part @ coefficients) ** 2)

        goal = left(self.target)
        found = scipy.optimize.minimize_scalar(
            unexplained,
            bounds=np.log(np.array(_BENDS) * np.std(self.x[feature.variable])),
            method="bounded",
            options={"xatol": 1e-9},
        )
        return at(found.x) if found.fun < unexplained(math.log(feature.scale)) else feature


def _parents(columns: tuple[Column, ...]) -> np.ndarray:
    """A nonlinear feature comes before its seasonal cycle; a linear one is there anyhow."""
    place = {column: number for number, column in enumerate(columns)}
    return np.array([place[Column(column.formula, HARMONICS[0])] for column in columns])


def _rivals(columns: tuple[Column, ...]) -> np.ndarray:
    """Two bends of one variable would only make up for a third, which is found by moving one."""
    variables = np.array([column.saturates or "" for column in columns])
    formulas = np.array([column.formula for column in columns])
    same = (variables[:, None] == variables) & (variables != "")
    return same & (formulas[:, None] != formulas)


def _written(equation: str, f: np.ndarray, library: Library, chosen: Chosen) -> tuple[Term, ...]:
    places = sorted(chosen)
    coefficients, *_ = np.linalg.lstsq(library.values[places].T, f)
    terms: dict[str, dict[str, float]] = {}
    for place, size in zip(places, coefficients / library.sizes[places], strict=True):
        column = library.columns[place]
        terms.setdefault(column.formula, {})[column.harmonic] = float(size)
    return drift(equation, terms)
