"""What can be graded? Anything that makes one stochastic time step::

    state(t + dt) = step(state(t), t, dt, noise)

Noise is an argument, never drawn inside, so a step is a pure function: the same
noise drives any engine to the same numbers, zero noise gives the drift, and one
member is stepped alone, so members cannot influence each other.
"""

import abc
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class Step(eqx.Module):
    """One member's time step. Parameters are array leaves; structure is static.

    Models of one structure therefore stack into one pytree, and are stepped together by `jax.vmap`.

    Attributes:
        noise_size: q, how many standard normals one step takes.
    """

    noise_size: eqx.AbstractVar[int]

    @abc.abstractmethod
    def __call__(
        self,
        state: Float[Array, " variable"],
        t: Float[Array, ""],
        dt: Float[Array, ""],
        noise: Float[Array, " q"],
    ) -> Float[Array, " variable"]:
        """The state at `t + dt`.

        Args:
            state: at `t`, in the physical units of `enso_jax.state.VARIABLES`.
            t: months since 1 January 00:00 of the run's first year.
            dt: months.
            noise: independent standard normals.
        """


StepFunction = Callable[[Array, Array, Array, Array], Array]


def over_members(step: StepFunction) -> StepFunction:
    """The same step for an ensemble ``(variable, member)`` with noise ``(q, member)``.

    Members come last because each variable of the ensemble is then contiguous in memory.
    """
    return jax.vmap(step, in_axes=(-1, None, None, -1), out_axes=-1)


def advance_month(
    step: StepFunction,
    state: Float[Array, " variable *member"],
    month: Float[Array, ""],
    noise: Float[Array, "step q *member"],
) -> Float[Array, " variable *member"]:
    """The state at the end of a month that begins at time `month`.

    Args:
        step: a `Step` for a single state, `over_members(step)` for an ensemble.
        state: at the month's beginning.
        month: months since 1 January of the run's first year.
        noise: the month is cut into as many equal steps as this has rows. Any
            floating type; it is widened to the type of the state.
    """
    steps = noise.shape[0]
    dtype = state.dtype
    dt = jnp.asarray(1.0 / steps, dtype)

    def one_step(state, inputs):
        number, noise = inputs
        return step(state, month + number * dt, dt, noise.astype(dtype)), None

    state, _ = jax.lax.scan(one_step, state, (jnp.arange(steps, dtype=dtype), noise))
    return state
