"""What can be graded? Anything that makes one stochastic time step::

    state(t + dt) = step(state(t), t, dt, noise)

Noise is an argument, never drawn inside, so a step is a pure function: the same
noise drives any engine to the same numbers, zero noise gives the drift, and one
member is stepped alone, so members cannot influence each other.
"""

import abc

import equinox as eqx
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
