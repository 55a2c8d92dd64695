"""How are the three experiments of one model run, for any number of replicates?

Each experiment is one compiled program in which the replicates are stacked. The
programs take parameters, observations and keys as arguments, so models of one
structure share them. Test A and test B are the same smoother: what is withheld is
missing. The three run side by side, which on two cores or more also compiles them
side by side.
"""

import concurrent.futures
import dataclasses
from collections.abc import Callable
from typing import Final, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from enso_jax.experiments import (
    Forecasts,
    FreeRun,
    SeededNoise,
    Smoothing,
    forecast,
    free_run,
    smooth,
)
from enso_jax.models import Step
from enso_jax.observations import ObservationError, Record
from enso_jax.protocol import Protocol
from enso_jax.scores import (
    INDICES,
    TESTS,
    assimilated,
    forecast_starts,
    observation_error,
    targets,
)
from enso_jax.state import MONTHS_PER_YEAR, NAMES

_Result = TypeVar("_Result")

#: The experiments by name, in the order in which they are spoken of.
EXPERIMENTS: Final = ("free run", "smoother", "forecasts")


@dataclasses.dataclass(frozen=True)
class Experiments:
    """What a model did. Every array has a leading axis of replicates.

    Attributes:
        free_run: `FreeRun`.
        smoothing: `Smoothing` with an axis of tests, A then B, after the replicates.
        forecasts: `Forecasts`.
    """

    free_run: FreeRun
    smoothing: Smoothing
    forecasts: Forecasts


def run_experiments(
    step: Step,
    record: Record,
    protocol: Protocol,
    *,
    seed: int,
    replicates: int,
    done: Callable[[str], None] = lambda experiment: None,
) -> Experiments:
    """Runs all three experiments of `step` with `record`.

    Replicate r of a seed has the same noise however many replicates there are.

    Args:
        step: the model.
        record: what is assimilated, and from what forecasts start.
        protocol: the constants.
        seed: of all noise.
        replicates: how many times each experiment is run, with independent noise.
        done: told the name of each of `EXPERIMENTS` as it ends.

    Raises:
        ObservationError: if no forecast could start, or no reconstruction be scored.
        PrecisionError: if JAX is not in the precision that the protocol asks for.
    """
    _require_usable(record, protocol)
    keys = [_replicate_keys(seed, number, replicates) for number in range(len(EXPERIMENTS))]
    development = record.development.values
    tests = jnp.asarray([assimilated(development, test) for test in TESTS])
    error = jnp.asarray(observation_error(development, protocol))
    starts = forecast_starts(record.held_out.months, protocol)
    initial = jnp.asarray(record.held_out.values[:starts])
    start_months = jnp.arange(starts) % MONTHS_PER_YEAR

    def run(name: str, call: Callable[[], _Result]) -> _Result:
        result = jax.block_until_ready(call())
        done(name)
        return result

    with concurrent.futures.ThreadPoolExecutor(len(EXPERIMENTS)) as pool:
        free = pool.submit(run, EXPERIMENTS[0], lambda: _free_runs(step, keys[0], protocol))
        smoothing = pool.submit(
            run, EXPERIMENTS[1], lambda: _smoothings(step, tests, error, keys[1], protocol)
        )
        forecasts = pool.submit(
            run, EXPERIMENTS[2], lambda: _forecasts(step, initial, start_months, keys[2], protocol)
        )
        return Experiments(free.result(), smoothing.result(), forecasts.result())


def _require_usable(record: Record, protocol: Protocol) -> None:
    held_out = record.held_out.values
    starts = forecast_starts(len(held_out), protocol)
    complete = np.isfinite(held_out[:starts]).all(axis=1, keepdims=True)
    for index in INDICES:
        observed = targets(held_out[:, NAMES.index(index)], protocol).observed
        if not (complete & np.isfinite(observed)).any(axis=0).all():
            raise ObservationError(
                f"In the held-out months of {record.name} no month with all five variables has "
                f"{index} at each of the {protocol.forecast_leads} months after it, so no forecast "
                "can be scored: use a longer or a more complete record."
            )
    scored = record.development.values[protocol.smoother_spin_up_months :]
    if (np.isfinite(scored).sum(axis=0) < MONTHS_PER_YEAR).any():
        raise ObservationError(
            f"The development months of {record.name} have a variable with less than a year of "
            f"values after the first {protocol.smoother_spin_up_months} months, so no "
            "reconstruction of it can be scored: use a longer or a more complete record."
        )


def _replicate_keys(seed: int, experiment: int, replicates: int) -> Key[Array, " replicate"]:
    key = jax.random.fold_in(jax.random.key(seed), experiment)
    return jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(replicates))


@eqx.filter_jit
def _free_runs(step: Step, keys: Key[Array, " replicate"], protocol: Protocol) -> FreeRun:
    def one(key):
        return free_run(step, SeededNoise(key, protocol.noise_dtype), protocol)

    return jax.vmap(one)(keys)


@eqx.filter_jit
def _smoothings(
    step: Step,
    tests: Float[Array, "test month variable"],
    error: Float[Array, " variable"],
    keys: Key[Array, " replicate"],
    protocol: Protocol,
) -> Smoothing:
    def one(key, observations):
        noise = SeededNoise(key, protocol.noise_dtype)
        return smooth(step, observations, error, noise, protocol)

    # The tests of a replicate share its noise, which is then drawn once for both.
    return jax.vmap(jax.vmap(one, (None, 0)), (0, None))(keys, tests)


@eqx.filter_jit
def _forecasts(
    step: Step,
    initial: Float[Array, "start variable"],
    start_months: Int[Array, " start"],
    keys: Key[Array, " replicate"],
    protocol: Protocol,
) -> Forecasts:
    def one(key):
        noise = SeededNoise(key, protocol.noise_dtype)
        return forecast(step, initial, start_months, noise, protocol)

    return jax.vmap(one)(keys)
