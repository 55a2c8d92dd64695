"""What does the model say of the months to come?

From each start month an ensemble begins at the observed state, the same in every
member, and runs freely; the members differ in their noise. The forecast is the
ensemble mean.
"""

import functools
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from enso_jax.experiments._noise import Noise
from enso_jax.experiments._precision import in_precision
from enso_jax.experiments._status import first_non_finite
from enso_jax.models import Step
from enso_jax.protocol import Protocol
from enso_jax.state import MONTHS_PER_YEAR
from enso_jax.stepping import Months

_spread = functools.partial(jnp.std, ddof=1)


class Forecasts(eqx.Module):
    """Ensemble forecasts by start and lead, physical units.

    Attributes:
        mean, spread: ensemble mean and standard deviation, ``[s, l - 1]`` at lead l months
            after start s. NaN for a start whose observed state was incomplete.
        status: for each start the first lead, counted from 0, that is not finite, or -1.
    """

    mean: Float[Array, "start lead variable"]
    spread: Float[Array, "start lead variable"]
    status: Int[Array, " start"]


def forecast(
    step: Step,
    initial: Float[Array, "start variable"],
    start_months: Int[Array, " start"],
    noise: Noise,
    protocol: Protocol,
) -> Forecasts:
    """Forecasts from every start for `protocol.forecast_leads` months.

    Args:
        step: the model.
        initial: the observed state at the end of each start month; a start with a NaN
            in it is not forecast.
        start_months: each start's calendar month, 0 for January.
        noise: block l drives lead l + 1 and is ``(starts, steps_per_month, q, members)``.
        protocol: members, leads, steps.
    """
    step, initial = in_precision((step, initial), protocol)
    starts = initial.shape[0]
    members, leads = protocol.forecast_members, protocol.forecast_leads
    shape = (starts, protocol.steps_per_month, step.noise_size, members)
    months = Months(step, protocol.steps_per_month, protocol.state_dtype)
    advance_starts = jax.vmap(months.advance)
    # The state holds at its month's end: the first month to be run is the next one.
    first = (start_months + 1) % MONTHS_PER_YEAR
    early = jax.vmap(lambda lead: months.early(first + lead))(jnp.arange(leads))

    def one_month(ensembles, inputs):
        lead, early = inputs
        ensembles = advance_starts(ensembles, early, noise.block(lead, shape))
        return ensembles, (_of_members(jnp.mean, ensembles), _of_members(_spread, ensembles))

    complete = jnp.isfinite(initial).all(axis=-1)
    # Starts that will not count run from zero, so that a NaN of theirs is not the model's.
    begin = jnp.where(complete[:, None], initial, 0.0)
    ensembles = tuple(jnp.broadcast_to(column[:, None], (starts, members)) for column in begin.T)
    _, (mean, spread) = jax.lax.scan(one_month, ensembles, (jnp.arange(leads), early))
    mean, spread = jnp.swapaxes(mean, 0, 1), jnp.swapaxes(spread, 0, 1)
    status = first_non_finite(jnp.isfinite(mean).all(axis=-1))
    blank = jnp.where(complete, 0.0, jnp.nan)[:, None, None]
    return Forecasts(mean + blank, spread + blank, status)


def _of_members(
    statistic: Callable[..., Array], ensembles: tuple[Float[Array, "start member"], ...]
) -> Float[Array, "start variable"]:
    """A statistic of the members of each variable."""
    return jnp.stack([statistic(members, axis=-1) for members in ensembles], axis=-1)
