"""A model's steps taken as they are written, with nothing done to make them fast."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def over_members(step: Callable) -> Callable:
    """The step for an ensemble ``(variable, member)`` with noise ``(q, member)``."""
    return jax.vmap(step, in_axes=(-1, None, None, -1), out_axes=-1)


def advance_month(
    step: Callable,
    state: Float[Array, " variable *member"],
    month: Float[Array, ""],
    noise: Float[Array, "step q *member"],
) -> Float[Array, " variable *member"]:
    """The state at the end of a month; `step` is for one state, or `over_members` of one."""
    dt = jnp.asarray(1.0 / len(noise), state.dtype)
    for number, normals in enumerate(noise):
        state = step(state, month + number * dt, dt, normals.astype(state.dtype))
    return state
