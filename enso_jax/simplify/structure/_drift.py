"""What are the terms of an equation's drift?

The fewest columns of a library whose sum is the drift, since the drift is known exactly::

    f_i(x, t) = sum_k a_k h_k(t) f_k(x)

Where a saturating square bends is not linear: it is moved, between two searches, to where
the least is left unexplained.
"""

import math
from typing import Final

import numpy as np
import scipy.optimize
from jaxtyping import Float

from enso_jax.models import HARMONICS, Saturating, Term, drift
from enso_jax.simplify.structure._library import ALWAYS, Column, Library, Values, evaluated
from enso_jax.simplify.structure._selection import Chosen, Search, without

#: The share of a drift's variance that each of its terms has to explain alone. The least that
#: a term of the built-in models explains is 6e-5; what a Heun step adds to an Euler step
#: explains less than 1e-5.
LEAST_SHARE: Final = 2e-5
#: The share that a column has to gain when it is added; so little that the columns of which
#: several make up a small term are all found before any is dropped.
_LEAST_GAIN: Final = 1e-6
#: Where a bend is looked for, in standard deviations of its variable: closer to zero it is a
#: constant and farther out a square, and another feature's task.
_BENDS: Final = (0.5, 8.0)
#: A linear coupling that explains less is rounding, or what is left of a finer step scheme.
_NOTHING: Final = 1e-7
#: Searches with bends moved between them. A second one finds a model of the library.
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
    deviation = float(np.std(f))
    # A drift without variance is a constant, or nothing.
    target = f / (deviation or 1.0)
    chosen: Chosen = ALWAYS
    for _ in range(_ROUNDS):
        search, before = _search(library, target), chosen
        chosen = search.pruned(search.exchanged(search.extended(chosen, _LEAST_GAIN)), LEAST_SHARE)
        library, moved = _bent(library, chosen, target, x, seasons)
        if not moved and set(chosen) == set(before):
            break
    chosen = _search(library, target).pruned(chosen, LEAST_SHARE)
    return _written(equation, f, library, _telling(library, chosen, target))


def _search(library: Library, target: np.ndarray) -> Search:
    product = library.values.T @ target / len(target)
    square = np.mean(target**2)
    moments = np.block([[library.moments, product[:, None]], [product[None, :], square]])
    return Search(moments, ALWAYS, _parents(library.columns), _rivals(library.columns))


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


def _bent(
    library: Library, chosen: Chosen, target: np.ndarray, x: Values, seasons: Values
) -> tuple[Library, bool]:
    """The library with the chosen saturating squares bent where they fit best; whether any moved."""
    moved = False
    for formula in dict.fromkeys(library.columns[number].formula for number in chosen):
        feature = Column(formula, HARMONICS[0]).feature
        if isinstance(feature, Saturating):
            best = _best_bend(feature, library, chosen, target, x, seasons)
            library = library.replaced(formula, best.text(), x, seasons)
            moved |= not math.isclose(best.scale, feature.scale, rel_tol=1e-4)
    return library, moved


def _best_bend(
    feature: Saturating,
    library: Library,
    chosen: Chosen,
    target: np.ndarray,
    x: Values,
    seasons: Values,
) -> Saturating:
    own = [number for number in library.indices(feature.text()) if number in chosen]
    rest = chosen
    for number in own:
        rest = without(rest, number)
    basis, _ = np.linalg.qr(library.values[:, list(rest)])

    def left(values):
        return values - basis @ (basis.T @ values)

    goal = left(target)

    def at(log_scale):
        return Saturating(feature.variable, math.exp(log_scale))

    def unexplained(log_scale):
        formula = at(log_scale).text()
        columns = [Column(formula, library.columns[number].harmonic) for number in own]
        values, _ = evaluated(columns, x, seasons)
        part = left(values)
        coefficients, *_ = np.linalg.lstsq(part, goal)
        return np.mean((goal - part @ coefficients) ** 2)

    bounds = np.log(np.array(_BENDS) * np.std(x[feature.variable]))
    found = scipy.optimize.minimize_scalar(
        unexplained, bounds=bounds, method="bounded", options={"xatol": 1e-9}
    )
    return at(found.x) if found.fun < unexplained(math.log(feature.scale)) else feature


def _telling(library: Library, chosen: Chosen, target: np.ndarray) -> Chosen:
    """Without the couplings that are zero but for rounding: they are taken unasked."""
    asked = _search(library, target)
    return Search(asked.moments, (), asked.parent, asked.rivals).pruned(chosen, _NOTHING)


def _written(
    equation: str, f: np.ndarray, library: Library, chosen: Chosen
) -> tuple[Term, ...]:
    places = sorted(chosen)
    coefficients, *_ = np.linalg.lstsq(library.values[:, places], f)
    sizes = dict(zip(places, coefficients / library.sizes[places], strict=True))
    terms: dict[str, dict[str, float]] = {}
    for place, size in sizes.items():
        column = library.columns[place]
        terms.setdefault(column.formula, {})[column.harmonic] = float(size)
    return drift(equation, terms)
