"""How is a small symmetric system solved where a call of LAPACK would cost more than it does?

By Cholesky's factorisation, written out number by number::

    S = L L^T,    X = C S^-1 = (C L^-T) L^-1
"""

import functools
import operator
from collections.abc import Iterable

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float


def times_inverse(C: Float[Array, "m n"], S: Float[Array, "n n"]) -> Float[Array, "m n"]:
    """``C S^-1`` for a symmetric positive definite S; NaN where it is not."""
    size = S.shape[0]
    L, reciprocal = _factor(S)
    columns: list[Array] = []
    for j in range(size):
        known = [L[j, k] * columns[k] for k in range(j)]
        columns.append(_minus(C[:, j], known) * reciprocal[j])
    for j in reversed(range(size)):
        known = [L[k, j] * columns[k] for k in range(j + 1, size)]
        columns[j] = _minus(columns[j], known) * reciprocal[j]
    return jnp.stack(columns, axis=-1)


def _factor(S: Float[Array, "n n"]) -> tuple[dict[tuple[int, int], Array], list[Array]]:
    """L below its diagonal, and one over its diagonal."""
    L: dict[tuple[int, int], Array] = {}
    reciprocal: list[Array] = []
    for j in range(S.shape[0]):
        reciprocal.append(lax.rsqrt(_minus(S[j, j], [L[j, k] * L[j, k] for k in range(j)])))
        for i in range(j + 1, S.shape[0]):
            L[i, j] = _minus(S[i, j], [L[i, k] * L[j, k] for k in range(j)]) * reciprocal[j]
    return L, reciprocal


def _minus(value: Array, others: Iterable[Array]) -> Array:
    return functools.reduce(operator.sub, others, value)
