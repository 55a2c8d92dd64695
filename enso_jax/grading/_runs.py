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
from typing import TypeVar

import equinox as eqx
import jax
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
from enso_jax.grading._inputs import EXPERIMENTS, experiment_inputs
from enso_jax.models import Step
from enso_jax.observations import Record
from enso_jax.protocol import Protocol

_Result = TypeVar("_Result")


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
    inputs = experiment_inputs(record, protocol, seed, replicates)

    def run(name: str, call: Callable[[], _Result]) -> _Result:
        result = jax.block_until_ready(call())
        done(name)
        return result

    def free_runs() -> FreeRun:
        return _free_runs(step, inputs.keys[0], protocol)

    def smoothings() -> Smoothing:
        return _smoothings(step, inputs.tests, inputs.error, inputs.keys[1], protocol)

    def forecasts() -> Forecasts:
        return _forecasts(step, inputs.initial, inputs.start_months, inputs.keys[2], protocol)

    with concurrent.futures.ThreadPoolExecutor(len(EXPERIMENTS)) as pool:
        free = pool.submit(run, EXPERIMENTS[0], free_runs)
        smoothing = pool.submit(run, EXPERIMENTS[1], smoothings)
        forecasting = pool.submit(run, EXPERIMENTS[2], forecasts)
        return Experiments(free.result(), smoothing.result(), forecasting.result())


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
