"""What do some of the variables, observed, say about the others?

The stochastic ensemble Kalman smoother with a fixed lag L. The model carries an
ensemble E (5, N) through each month; at its end the month's observations y revise
the ensemble of that month and of the L months before, through the sample
covariances of the lag-stacked ensemble. With H the rows of the observed variables,
R the observation error's variances, A the ensemble minus its mean and
D = y + perturbations of variance R that sum to zero over the members::

    S = H A (H A)^T / (N - 1) + R
    E_l += A_l (H A)^T / (N - 1)  S^-1  (D - H E_0),     l = 0 .. L months back

No inflation, no localisation. After L further months an estimate is final.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from enso_jax.experiments._cholesky import times_inverse
from enso_jax.experiments._noise import Noise
from enso_jax.experiments._precision import in_precision
from enso_jax.experiments._status import first_non_finite
from enso_jax.models import Step
from enso_jax.protocol import Protocol
from enso_jax.state import NAMES
from enso_jax.stepping import Months

_VARIABLES = len(NAMES)


class Smoothing(eqx.Module):
    """Estimates of every variable in every month, physical units.

    Attributes:
        filtered: the ensemble mean once the month's own observations are in.
        smoothed: the ensemble mean once those of the following L months are in too.
        spread: the ensemble standard deviation of the smoothed estimate.
        innovation: observation minus prior mean, divided by the standard deviation
            that the ensemble and the observation error give it: of variance near 1
            if the model knows its own uncertainty. NaN where nothing was observed.
        status: the first month that is not finite, or -1.
    """

    filtered: Float[Array, "month variable"]
    smoothed: Float[Array, "month variable"]
    spread: Float[Array, "month variable"]
    innovation: Float[Array, "month variable"]
    status: Int[Array, ""]


def smooth(
    step: Step,
    observations: Float[Array, "month variable"],
    error: Float[Array, " variable"],
    noise: Noise,
    protocol: Protocol,
) -> Smoothing:
    """Smooths `observations` with `step` as the prior, all members starting from zero.

    Args:
        step: the model.
        observations: at the months' ends, the first of them a January; NaN is not
            observed: withheld and missing values are the same thing.
        error: standard deviation of the observation error.
        noise: block m drives month m. Its shape is ``(steps_per_month q + 5, N)``, the last
            five rows being the observations' perturbations.
        protocol: members, lag, steps.
    """
    step, observations, error = in_precision((step, observations, error), protocol)
    members, lag = protocol.smoother_members, protocol.smoother_lag
    steps, q = protocol.steps_per_month, step.noise_size
    ready = Months(step, steps, protocol.state_dtype)

    def one_month(window, inputs):
        month, early, observed = inputs
        normals = noise.block(month, (steps * q + _VARIABLES, members))
        forcing = normals[: steps * q].reshape(steps, q, members)
        prior = jnp.stack(ready.advance(tuple(window[0]), early, forcing))
        window = jnp.concatenate([prior[None], window[:-1]])
        return revise(window, observed, error, normals[steps * q :])

    def one_month_with_output(window, inputs):
        window, innovation = one_month(window, inputs)
        final = window[-1]
        output = window[0].mean(-1), final.mean(-1), final.std(-1, ddof=1), innovation
        return window, output

    start = jnp.zeros((lag + 1, _VARIABLES, members), protocol.state_dtype)
    months = jnp.arange(observations.shape[0])
    inputs = months, ready.early(months), observations
    window, output = jax.lax.scan(one_month_with_output, start, inputs)
    filtered, means, spreads, innovation = output
    # The last months never leave the window; newest first there, oldest first here.
    rest = window[: min(lag, len(months))][::-1]
    smoothed = jnp.concatenate([means[lag:], rest.mean(-1)])
    spread = jnp.concatenate([spreads[lag:], rest.std(-1, ddof=1)])
    finite = jnp.isfinite(filtered).all(axis=-1)
    return Smoothing(filtered, smoothed, spread, innovation, first_non_finite(finite))


def revise(
    window: Float[Array, "lag variable member"],
    observed: Float[Array, " variable"],
    error: Float[Array, " variable"],
    normals: Float[Array, "variable member"],
) -> tuple[Float[Array, "lag variable member"], Float[Array, " variable"]]:
    """The analysis of the lag-stacked ensemble, and the normalised innovation.

    Args:
        window: this month's ensemble, then those of the months before it.
        observed: NaN where nothing was observed.
        error: standard deviations.
        normals: of the observations' perturbations.
    """
    lags, variables, members = window.shape
    valid = jnp.isfinite(observed)
    mean = window.mean(-1, keepdims=True)
    anomalies = window - mean
    seen = jnp.where(valid[:, None], anomalies[0], 0.0)
    covariance = anomalies.reshape(-1, members) @ seen.T / (members - 1)
    # An unobserved variable keeps its row in S, as that of an independent observation
    # with no departure: it changes nothing, and S has one shape whatever was observed.
    S = jnp.where(valid[:, None], covariance[:variables], 0.0)
    S = S + jnp.diag(jnp.where(valid, error**2, 1.0))
    perturbations = normals.astype(window.dtype)
    perturbations = perturbations - perturbations.mean(-1, keepdims=True)
    departure = _where_valid(valid, observed, error, window[0], perturbations)
    gain = times_inverse(covariance, S)
    revised = window + (gain @ departure).reshape(lags, variables, members)
    innovation = (observed - mean[0, :, 0]) / jnp.sqrt(jnp.diag(S))
    return revised, innovation


def _where_valid(
    valid: Bool[Array, " variable"],
    observed: Float[Array, " variable"],
    error: Float[Array, " variable"],
    ensemble: Float[Array, "variable member"],
    perturbations: Float[Array, "variable member"],
) -> Float[Array, "variable member"]:
    """Perturbed observations minus the ensemble; 0 where nothing was observed."""
    departure = observed[:, None] + error[:, None] * perturbations - ensemble
    return jnp.where(valid[:, None], departure, 0.0)
