"""What if a model counts its months from another day than 1 January?"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from enso_jax.models._step import Step


class Shifted(Step):
    """A step whose own time is `months_at_1_january` on 1 January 00:00."""

    step: Step
    months_at_1_january: Float[Array, ""]
    noise_size: int = eqx.field(static=True)

    def __init__(self, step: Step, months_at_1_january: float) -> None:
        self.step = step
        self.months_at_1_january = jnp.asarray(months_at_1_january, dtype=float)
        self.noise_size = step.noise_size

    def __call__(self, state, t, dt, noise):
        return self.step(state, t + self.months_at_1_january, dt, noise)
