"""How are the three experiments of models run, for any number of them and of replicates?

Each experiment is one compiled program in which models of one structure and replicates
are stacked. The programs take parameters, observations and keys as arguments, so all
models of one structure share them. A replicate's noise is the same for every model, and
is drawn once for all of a stack. Test A and test B are the same smoother: what is withheld
is missing. The three run side by side, which on two cores or more also compiles them
side by side.
"""

import concurrent.futures
import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence
from typing import TypeVar

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
from enso_jax.grading._inputs import EXPERIMENTS, experiment_inputs
from enso_jax.grading._room import make_room_for_programs
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
    (experiments,) = run_stack(
        [step], record, protocol, seed=seed, replicates=replicates, done=done
    )
    return experiments


def run_stack(
    steps: Sequence[Step],
    record: Record,
    protocol: Protocol,
    *,
    seed: int,
    replicates: int,
    done: Callable[[str], None] = lambda experiment: None,
) -> list[Experiments]:
    """`run_experiments` of models of one structure, all at once."""
    make_room_for_programs()
    calls = experiment_calls(steps, record, protocol, seed=seed, replicates=replicates)

    def run(name: str) -> FreeRun | Smoothing | Forecasts:
        result = jax.block_until_ready(calls[name]())
        done(name)
        return result

    with concurrent.futures.ThreadPoolExecutor(len(EXPERIMENTS)) as pool:
        results = jax.device_get(list(pool.map(run, EXPERIMENTS)))
    return [
        Experiments(*jax.tree.map(operator.itemgetter(number), results))
        for number in range(len(steps))
    ]


def experiment_calls(
    steps: Sequence[Step], record: Record, protocol: Protocol, *, seed: int, replicates: int
) -> dict[str, Callable[[], FreeRun | Smoothing | Forecasts]]:
    """For each of `EXPERIMENTS` what runs it: axes are the model, the replicate, its own."""
    inputs = experiment_inputs(record, protocol, seed, replicates)
    stack = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *steps)
    free, smoothing, forecasting = inputs.keys
    calls = (
        functools.partial(_free_runs, stack, free, protocol),
        functools.partial(_smoothings, stack, inputs.tests, inputs.error, smoothing, protocol),
        functools.partial(
            _forecasts, stack, inputs.initial, inputs.start_months, forecasting, protocol
        ),
    )
    return dict(zip(EXPERIMENTS, calls, strict=True))


@eqx.filter_jit
def _free_runs(stack: Step, keys: Key[Array, " replicate"], protocol: Protocol) -> FreeRun:
    def one(step, key):
        return free_run(step, SeededNoise(key, protocol.noise_dtype), protocol)

    return _over_models_and_replicates(one)(stack, keys)


@eqx.filter_jit
def _smoothings(
    stack: Step,
    tests: Float[Array, "test month variable"],
    error: Float[Array, " variable"],
    keys: Key[Array, " replicate"],
    protocol: Protocol,
) -> Smoothing:
    def one(step, key):
        noise = SeededNoise(key, protocol.noise_dtype)
        # The tests of a replicate share its noise.
        return jax.vmap(lambda test: smooth(step, test, error, noise, protocol))(tests)

    return _over_models_and_replicates(one)(stack, keys)


@eqx.filter_jit
def _forecasts(
    stack: Step,
    initial: Float[Array, "start variable"],
    start_months: Int[Array, " start"],
    keys: Key[Array, " replicate"],
    protocol: Protocol,
) -> Forecasts:
    def one(step, key):
        noise = SeededNoise(key, protocol.noise_dtype)
        return forecast(step, initial, start_months, noise, protocol)

    return _over_models_and_replicates(one)(stack, keys)


def _over_models_and_replicates(one: Callable[[Step, Array], _Result]) -> Callable[..., _Result]:
    return jax.vmap(jax.vmap(one, (None, 0)), (0, None))
