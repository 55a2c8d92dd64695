"""How does the model's own climate look?

One long trajectory from the zero state, driven by noise alone. Its monthly values
are the states at the months' ends.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from enso_jax.experiments._noise import Noise
from enso_jax.experiments._precision import in_precision
from enso_jax.experiments._status import first_non_finite
from enso_jax.models import Step
from enso_jax.protocol import Protocol
from enso_jax.state import MONTHS_PER_YEAR, NAMES
from enso_jax.stepping import Months

# Months whose noise is drawn at once: enough to hide the cost of a draw, and few enough
# (144 KB in float32 at 30 steps and 5 normals) to stay in cache.
MONTHS_PER_BLOCK = 240


class FreeRun(eqx.Module):
    """A free simulation.

    Attributes:
        monthly: the state at the end of each month after the spin-up, physical units.
        status: the first month, counted from the run's start, that is not finite, or -1.
    """

    monthly: Float[Array, "month variable"]
    status: Int[Array, ""]


def free_run(step: Step, noise: Noise, protocol: Protocol) -> FreeRun:
    """Runs `step` for `protocol.free_run_years` from the zero state.

    Block b of `noise` is ``(240, steps_per_month, q)`` and drives months 240 b to 240 b + 239.
    """
    step = in_precision(step, protocol)
    count = MONTHS_PER_YEAR * protocol.free_run_years
    spin_up = MONTHS_PER_YEAR * protocol.free_run_spin_up_years
    months = Months(step, protocol.steps_per_month, protocol.state_dtype)
    shape = (MONTHS_PER_BLOCK, protocol.steps_per_month, step.noise_size)

    def one_month(state, inputs):
        state = months.advance(state, *inputs)
        return state, jnp.stack(state)

    def one_block(state, number):
        early = months.early(number * MONTHS_PER_BLOCK + jnp.arange(MONTHS_PER_BLOCK))
        return jax.lax.scan(one_month, state, (early, noise.block(number, shape)))

    start = tuple(jnp.zeros(len(NAMES), protocol.state_dtype))
    blocks = -(-count // MONTHS_PER_BLOCK)
    _, monthly = jax.lax.scan(one_block, start, jnp.arange(blocks))
    monthly = monthly.reshape(-1, len(NAMES))[:count]
    finite = jnp.isfinite(monthly).all(axis=-1)
    return FreeRun(monthly[spin_up:], first_non_finite(finite))
