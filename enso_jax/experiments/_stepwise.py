"""How is a model run that cannot be compiled, but only called?

The same three experiments with the same noise and the same analysis, driven from
outside: an `Advance` carries an ensemble through whole months, wherever it runs, and
what happens between the months is done here. With the noise of a compiled run the
numbers are the same, to rounding.
"""

from typing import Protocol as Interface

import jax
import jax.numpy as jnp
import numpy as np

from enso_jax.experiments._forecast import Forecasts
from enso_jax.experiments._free_run import MONTHS_PER_BLOCK, FreeRun
from enso_jax.experiments._noise import Noise
from enso_jax.experiments._smoother import Smoothing, revise
from enso_jax.experiments._status import FINITE, first_non_finite
from enso_jax.protocol import Protocol
from enso_jax.state import MONTHS_PER_YEAR, NAMES

_VARIABLES = len(NAMES)
_revise = jax.jit(revise)


class Advance(Interface):
    """Carries an ensemble through months."""

    @property
    def noise_size(self) -> int | None:
        """q, the normals of a step; None for a model that draws its own."""
        ...

    def __call__(self, ensemble: np.ndarray, month: float, noise: np.ndarray) -> np.ndarray:
        """The states at the ends of the months that begin at `month`, ``(month, 5, N)``.

        Args:
            ensemble: (5, N).
            month: months since 1 January of the run's first year.
            noise: ``(month, step, q, N)``; q is 0 for a model that draws its own.
        """
        ...


def free_run_stepwise(advance: Advance, noise: Noise, protocol: Protocol) -> FreeRun:
    """As `free_run`. Ends at the first block with a month that is not finite."""
    months = MONTHS_PER_YEAR * protocol.free_run_years
    q = advance.noise_size or 0
    shape = (MONTHS_PER_BLOCK, protocol.steps_per_month, q)
    monthly = np.full((months, _VARIABLES), np.nan)
    state = np.zeros((_VARIABLES, 1))
    for number in range(-(-months // MONTHS_PER_BLOCK)):
        first = number * MONTHS_PER_BLOCK
        count = min(MONTHS_PER_BLOCK, months - first)
        normals = _block(noise, number, shape)[:count, ..., None]
        states = advance(state, float(first), normals)
        monthly[first : first + count] = states[..., 0]
        state = states[-1]
        if not np.isfinite(states).all():
            break
    finite = jnp.asarray(np.isfinite(monthly).all(axis=-1))
    spin_up = MONTHS_PER_YEAR * protocol.free_run_spin_up_years
    return FreeRun(jnp.asarray(monthly[spin_up:]), first_non_finite(finite))


def smooth_stepwise(
    advance: Advance,
    observations: np.ndarray,
    error: np.ndarray,
    noise: Noise,
    protocol: Protocol,
) -> Smoothing:
    """As `smooth`. Ends at the first month that is not finite."""
    members, lag = protocol.smoother_members, protocol.smoother_lag
    steps, q = protocol.steps_per_month, advance.noise_size or 0
    months = len(observations)
    filtered, smoothed, spread, innovation = np.full((4, months, _VARIABLES), np.nan)
    window = np.zeros((lag + 1, _VARIABLES, members))
    status = FINITE
    for month in range(months):
        normals = _block(noise, month, (steps * q + _VARIABLES, members))
        forcing = normals[: steps * q].reshape(1, steps, q, members)
        prior = advance(window[0], float(month), forcing)[0]
        window = np.concatenate([prior[None], window[:-1]])
        revised = _revise(window, observations[month], error, normals[steps * q :])
        window, innovation[month] = np.asarray(revised[0]), revised[1]
        filtered[month] = window[0].mean(-1)
        if not np.isfinite(filtered[month]).all():
            status = month
            break
        with np.errstate(over="ignore"):  # of a model that is about to leave the finite numbers
            for back in range(min(lag, month) + 1):
                smoothed[month - back] = window[back].mean(-1)
                spread[month - back] = window[back].std(-1, ddof=1)
    return Smoothing(
        jnp.asarray(filtered),
        jnp.asarray(smoothed),
        jnp.asarray(spread),
        jnp.asarray(innovation),
        jnp.asarray(status),
    )


def forecast_stepwise(
    advance: Advance, initial: np.ndarray, start_month: int, noise: np.ndarray, protocol: Protocol
) -> Forecasts:
    """As `forecast`, from one start that is complete in all variables.

    One at a time, so that a model which keeps what it saw can be given another process
    for the next start.

    Args:
        advance: the model.
        initial: (5,), the observed state.
        start_month: its calendar month, 0 for January.
        noise: of this start, one of those that `forecast_noise` gives.
        protocol: members and leads.
    """
    ensemble = np.repeat(initial[:, None], protocol.forecast_members, axis=1)
    states = advance(ensemble, float((start_month + 1) % MONTHS_PER_YEAR), noise)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = states.mean(-1), states.std(-1, ddof=1)
    status = first_non_finite(jnp.asarray(np.isfinite(mean).all(axis=-1)))
    return Forecasts(jnp.asarray(mean)[None], jnp.asarray(spread)[None], status[None])


def forecast_noise(noise: Noise, starts: int, q: int, protocol: Protocol) -> np.ndarray:
    """The noise of all starts, ``(start, lead, step, q, member)``, as `forecast` draws it."""
    shape = (starts, protocol.steps_per_month, q, protocol.forecast_members)
    blocks = [_block(noise, lead, shape) for lead in range(protocol.forecast_leads)]
    return np.stack(blocks, axis=1)


def _block(noise: Noise, number: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.asarray(noise.block(jnp.asarray(number), shape))
