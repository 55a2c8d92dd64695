"""Which coefficients reproduce best what the original does at the states that it visits?

For each equation i, those that least squares finds along the original's run, in nondimensional
variables::

    minimise  sum_n ( F_i(x_n, t_n) - sum_j a_j h_j(t_n) f_j(x_n) )^2
    F = time_scale drift / scale

with a coefficient a_j for each harmonic h_j of each term f_j. A coefficient that is not free
is held, and its contribution taken from F. The samples' drift is exact, so that nothing is
uncertain but which states were visited.

The products of all columns are summed once, over segments of the run; a refit is then five
small linear systems, for any choice of what is free.
"""

from typing import Final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from enso_jax.fitting._free import (
    KINDS,
    numbers,
    of_kind,
    of_noise,
    shaped,
    which_are_free,
    with_numbers,
)
from enso_jax.fitting._refit import Refit, Refitter, refused
from enso_jax.fitting._samples import Samples
from enso_jax.fitting._sandwich import in_segments, inverse_root, standard_errors
from enso_jax.models import TermModel, season
from enso_jax.state import NAMES

#: The columns after the regressors: the drift of each equation, and a 1.
_TARGETS: Final = len(NAMES) + 1


def increments(model: TermModel, samples: Samples) -> Refitter:
    """Refits drift coefficients to the drift of another model; the noise stays that of the start.

    The columns are those of `model`, so a start may differ from it in coefficients and noise
    alone. Where columns depend on one another, the coefficients are the smallest of the best.

    Args:
        model: any model of the structure that is to be refitted.
        samples: of the original.
    """
    cut, weights = in_segments(samples)
    products = np.asarray(_products(model, cut, jnp.asarray(weights)))
    if not np.isfinite(products).all():
        return lambda start, free: refused(start, "The samples, or the model at them, are infinite")
    coefficients = of_kind(model, "coefficients")
    places, refittable = np.flatnonzero(coefficients), of_kind(model, *KINDS)
    others = ~coefficients & ~of_noise(model)
    structure, needed = jax.tree.structure(model), numbers(model)[others]
    equations = np.asarray([term.equation for term in model.terms for _ in term.harmonics])
    systems = [
        _System(products, np.flatnonzero(equations == name), number)
        for number, name in enumerate(NAMES)
    ]

    def refit(start: TermModel, free: TermModel) -> Refit:
        values = numbers(start)
        if jax.tree.structure(start) != structure or not np.array_equal(values[others], needed):
            raise ValueError("the start differs from the model in more than coefficients and noise")
        movable = which_are_free(free, refittable)[places]
        errors, explained = np.zeros_like(values), {}
        for name, system in zip(NAMES, systems, strict=True):
            mine = places[system.columns]
            values[mine], errors[mine] = system.solve(values[mine], movable[system.columns])
            share = system.explained(values[mine])
            if share is not None:
                explained[name] = share
        return Refit(with_numbers(start, values), shaped(start, errors), explained, True)

    return refit


class _System:
    """The normal equations of one equation of the model.

    Attributes:
        columns: which of all columns are its own.
    """

    def __init__(self, products: np.ndarray, columns: np.ndarray, number: int) -> None:
        """See the attributes.

        Args:
            products: of all columns and targets, summed over each segment.
            columns: see the attributes.
            number: of the equation.
        """
        self.columns = columns
        target = products.shape[-1] - _TARGETS + number
        whole = products.sum(axis=0)
        self._grams = products[:, columns][:, :, columns]
        self._gram = whole[np.ix_(columns, columns)]
        self._rights = products[:, columns, target]
        self._right = whole[columns, target]
        self._square, self._sum, self._count = (
            whole[target, target],
            whole[target, -1],
            whole[-1, -1],
        )

    def solve(self, held: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients and their standard errors, both ``(column,)``.

        Args:
            held: the coefficients of the start, of which those not free are kept.
            free: which are free.
        """
        values, errors = held.copy(), np.zeros_like(held)
        root = inverse_root(self._gram[np.ix_(free, free)])
        right = self._right[free] - self._gram[np.ix_(free, ~free)] @ held[~free]
        values[free] = root @ (root.T @ right)
        scores = self._rights[:, free] - self._grams[:, free] @ values
        errors[free] = standard_errors(root, scores)
        return values, errors

    def explained(self, values: np.ndarray) -> float | None:
        """The share of the target's variance that is accounted for; None if it does not vary."""
        variance = self._square - self._sum**2 / self._count
        if variance <= 0.0:
            return None
        misfit = self._square - 2.0 * values @ self._right + values @ self._gram @ values
        return float(1.0 - max(misfit, 0.0) / variance)


@eqx.filter_jit
def _products(
    model: TermModel, samples: Samples, weights: Float[Array, "segment sample"]
) -> Float[Array, "segment column column"]:
    """The sums over each segment of the products of every two columns."""

    def one_segment(inputs):
        state, t, drift, weight = inputs
        rows = jax.vmap(_row, (None, 0, 0, 0))(model, state, t, drift)
        return (rows * weight[:, None]).T @ rows

    return jax.lax.map(one_segment, (samples.state, samples.t, samples.drift, weights))


def _row(
    model: TermModel,
    state: Float[Array, " variable"],
    t: Float[Array, ""],
    drift: Float[Array, " variable"],
) -> Float[Array, " column"]:
    """All regressors at one sample, then the targets, then 1."""
    x = dict(zip(NAMES, state / model.scales, strict=True))
    seasons = season(t, model.phase)
    regressors = [
        seasons[name] * term.feature(x) for term in model.terms for name in term.harmonics
    ]
    targets = drift / model.scales * model.time_scale
    return jnp.stack([*regressors, *targets, jnp.ones_like(t)])
