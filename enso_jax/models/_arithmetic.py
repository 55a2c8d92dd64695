"""How is a model's arithmetic written so that a long simulation need not wait for it?

A free run is one chain of steps, and each step a chain of operations, so what counts is
how many of them follow one another.
"""

from collections.abc import Sequence

import jax.numpy as jnp
from jaxtyping import Array


def total(values: Sequence[Array]) -> Array:
    """The sum of one or more, by halves, so that only log2(n) additions follow one another."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return total(values[:half]) + total(values[half:])


def between(low: Array, value: Array, high: Array) -> Array:
    """`value` kept within two bounds that are numbers; NaN where it is NaN.

    As `jnp.clip`, but that looks for a NaN in the bounds too, with several operations for
    each of the two that are needed.
    """
    value = jnp.where(value < low, low, value)
    return jnp.where(value > high, high, value)
