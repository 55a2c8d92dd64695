"""How are the experiments run when the submission's own code makes every step?

Each part - a free run, a smoother, one forecast start - is a session of its own, after
which the submission's process has forgotten what it saw. The analysis of the smoother
runs here. The noise is that of the compiled engine, for a step that takes normals.
"""

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from enso_jax.experiments import (
    FINITE,
    Advance,
    Forecasts,
    FreeRun,
    SeededNoise,
    Smoothing,
    forecast_noise,
    forecast_stepwise,
    free_run_stepwise,
    smooth_stepwise,
)
from enso_jax.grading._inputs import EXPERIMENTS, Inputs, experiment_inputs
from enso_jax.grading._runs import Experiments
from enso_jax.observations import Record
from enso_jax.protocol import Protocol
from enso_jax.state import NAMES

_Result = TypeVar("_Result", FreeRun, Smoothing, Forecasts)

#: Begins a session whose own draws, if it makes any, have the given seed.
OpenSession = Callable[[int], AbstractContextManager[Advance]]


@dataclasses.dataclass(frozen=True)
class Host:
    """A submission that is called.

    Attributes:
        open_session: begins a session.
        noise_size: the normals of a step; None for one that makes draws of its own.
    """

    open_session: OpenSession
    noise_size: int | None


def run_on_host(
    host: Host,
    record: Record,
    protocol: Protocol,
    *,
    seed: int,
    replicates: int,
    done: Callable[[str], None] = lambda experiment: None,
) -> Experiments:
    """The experiments of `run_experiments` with the same inputs, stepped in sessions.

    Raises:
        InvalidSubmission: if the submission fails on the way.
        ObservationError: as `run_experiments`.
    """
    inputs = experiment_inputs(record, protocol, seed, replicates)

    def every_replicate(number: int, run: Callable[..., _Result]) -> _Result:
        result = _joined(
            [run(host, inputs, key, protocol) for key in inputs.keys[number]], jnp.stack
        )
        done(EXPERIMENTS[number])
        return result

    return Experiments(
        every_replicate(0, _free_run),
        every_replicate(1, _smoothings),
        every_replicate(2, _forecasts),
    )


def _free_run(host: Host, inputs: Inputs, key: Key[Array, ""], protocol: Protocol) -> FreeRun:
    with host.open_session(_session_seed(key, 0)) as advance:
        return free_run_stepwise(advance, _noise(key, protocol), protocol)


def _smoothings(host: Host, inputs: Inputs, key: Key[Array, ""], protocol: Protocol) -> Smoothing:
    error, tests = np.asarray(inputs.error), []
    for number, observations in enumerate(np.asarray(inputs.tests)):
        with host.open_session(_session_seed(key, number)) as advance:
            noise = _noise(key, protocol)
            tests.append(smooth_stepwise(advance, observations, error, noise, protocol))
    return _joined(tests, jnp.stack)


def _forecasts(host: Host, inputs: Inputs, key: Key[Array, ""], protocol: Protocol) -> Forecasts:
    initial = np.asarray(inputs.initial)
    noise = forecast_noise(_noise(key, protocol), len(initial), host.noise_size or 0, protocol)
    starts = []
    for number, state in enumerate(initial):
        if np.isfinite(state).all():
            with host.open_session(_session_seed(key, number)) as advance:
                month = int(inputs.start_months[number])
                starts.append(forecast_stepwise(advance, state, month, noise[number], protocol))
        else:
            starts.append(_no_forecast(protocol))
    return _joined(starts, jnp.concatenate)


def _no_forecast(protocol: Protocol) -> Forecasts:
    """What `forecast` gives for a start that is not complete."""
    blank = jnp.full((1, protocol.forecast_leads, len(NAMES)), jnp.nan)
    return Forecasts(blank, blank, jnp.full(1, FINITE))


def _joined(parts: Sequence[_Result], join: Callable[..., Array]) -> _Result:
    return jax.tree.map(lambda *arrays: join([jnp.asarray(array) for array in arrays]), *parts)


def _noise(key: Key[Array, ""], protocol: Protocol) -> SeededNoise:
    return SeededNoise(key, protocol.noise_dtype)


def _session_seed(key: Key[Array, ""], number: int) -> int:
    return int(jax.random.bits(jax.random.fold_in(key, number), dtype="uint32"))
