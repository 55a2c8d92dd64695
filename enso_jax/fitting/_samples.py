"""What does a model do at the states that it visits?

Along its own free run, at many states x and times t, exactly and without sampling noise::

    drift       f = (step(x, t, dt, 0) - x + 1/2 sum_k d^2 step / d n_k^2) / dt
    covariance  Q = J J^T / dt,   J = d step / d n,   derivatives at n = 0

The increment over a step is then ``f dt + J n`` for every noise n, and f dt is its mean. The
second derivatives are 0 for a step that is linear in its noise; a Milstein step, whose mean is
not where its noise is 0, has them. What they do not reach is measured as a share.
"""

import functools
from typing import Final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from enso_jax.experiments import SeededNoise, in_precision
from enso_jax.models import Step
from enso_jax.protocol import Protocol
from enso_jax.state import MONTHS_PER_YEAR, NAMES
from enso_jax.stepping import Months

YEARS: Final = 2000
PER_MONTH: Final = 5
_SPIN_UP_YEARS: Final = 50
#: What the noise of this run is told apart by from that of any grade with the same seed.
_STREAM: Final = 0x5A


class Samples(eqx.Module):
    """States that a model visits, and what it does there; physical units and months.

    Attributes:
        state: x, in the order in which they were visited.
        t: months since 1 January of the run's first year.
        drift: f, per month: the mean increment, to second order in the noise.
        covariance: Q, per month.
        nonlinear_noise: the share of the mean square of an increment's departure from its mean
            that is not linear in the noise, for each variable; 0 where there is none.
    """

    state: Float[Array, "sample variable"]
    t: Float[Array, " sample"]
    drift: Float[Array, "sample variable"]
    covariance: Float[Array, "sample variable variable"]
    nonlinear_noise: Float[Array, " variable"]

    @property
    def monthly(self) -> np.ndarray:
        """The states at the months' ends, ``(month, variable)``; the first is a January's."""
        t = np.asarray(self.t)
        return np.asarray(self.state)[np.isclose(t, np.round(t), atol=1e-6)]


def sample(
    step: Step,
    protocol: Protocol,
    *,
    seed: int = 0,
    years: int = YEARS,
    per_month: int = PER_MONTH,
) -> Samples:
    """Samples of `step` along its own free run from the zero state, after a spin-up.

    A model that does not stay finite gives samples that are not: look before you use them.

    Args:
        step: any model.
        protocol: its step length and precision.
        seed: of the run's noise, which no grade shares.
        years: of the run, after 50 years of spin-up.
        per_month: samples of each month, evenly spaced; a divisor of the steps of a month.

    Raises:
        ValueError: if `per_month` does not divide the steps of a month.
        PrecisionError: if JAX is not in the precision that the protocol asks for.
    """
    if protocol.steps_per_month % per_month:
        raise ValueError(
            f"{protocol.steps_per_month} steps of a month cannot be cut into {per_month}"
        )
    key = jax.random.fold_in(jax.random.key(seed), _STREAM)
    return jax.tree.map(np.asarray, _sample(step, key, protocol, years, per_month))


@eqx.filter_jit
def _sample(
    step: Step, key: Key[Array, ""], protocol: Protocol, years: int, per_month: int
) -> Samples:
    step = in_precision(step, protocol)
    run, response = jax.random.split(key)
    noise = SeededNoise(run, protocol.noise_dtype)
    states, times = _visited(step, noise, protocol, _SPIN_UP_YEARS + years, per_month)
    skipped = _SPIN_UP_YEARS * MONTHS_PER_YEAR * per_month
    states, times = states[skipped:], times[skipped:]
    dt = jnp.asarray(protocol.dt, states.dtype)
    zero = jnp.zeros(step.noise_size, states.dtype)
    normals = jax.random.normal(response, (len(states), step.noise_size), states.dtype)

    def at(x, t, normal):
        def increment(noise):
            return step(x, t, dt, noise) - x

        def along(direction):
            """The first and the second derivative at no noise."""
            slope = functools.partial(_slope, increment, direction)
            return slope(zero), _slope(slope, direction, zero)

        first, second = jax.vmap(along)(jnp.eye(len(zero), dtype=zero.dtype))
        mean, linear = increment(zero) + 0.5 * second.sum(axis=0), normal @ first
        return (
            mean / dt,
            first.T @ first / dt,
            (increment(normal) - mean - linear) ** 2,
            linear**2,
        )

    drift, covariance, bent, straight = jax.vmap(at)(states, times, normals)
    bent, straight = bent.mean(axis=0), straight.mean(axis=0)
    share = jnp.where(bent > 0.0, bent / (bent + straight), 0.0)
    return Samples(states, times, drift, covariance, share)


def _slope(function, direction, place):
    """The derivative of a function along a direction, at a place."""
    return jax.jvp(function, (place,), (direction,))[1]


def _visited(
    step: Step, noise: SeededNoise, protocol: Protocol, years: int, per_month: int
) -> tuple[Float[Array, "sample variable"], Float[Array, " sample"]]:
    """The states of a free run, `per_month` of each month, and their times."""
    steps = protocol.steps_per_month
    months = Months(step, steps, protocol.state_dtype)

    def parts(values):
        return jax.tree.map(
            lambda leaf: leaf.reshape(per_month, steps // per_month, *leaf.shape[1:]), values
        )

    def one_part(state, inputs):
        state = months.advance(state, *inputs)
        return state, jnp.stack(state)

    def one_month(state, inputs):
        return jax.lax.scan(one_part, state, parts(inputs))

    def one_year(state, year):
        numbers = year * MONTHS_PER_YEAR + jnp.arange(MONTHS_PER_YEAR)
        normals = noise.block(year, (MONTHS_PER_YEAR, steps, step.noise_size))
        return jax.lax.scan(one_month, state, (months.early(numbers), normals))

    start = tuple(jnp.zeros(len(NAMES), protocol.state_dtype))
    _, states = jax.lax.scan(one_year, start, jnp.arange(years))
    states = states.reshape(-1, len(NAMES))
    times = (1.0 + jnp.arange(len(states), dtype=states.dtype)) / per_month
    return states, times
