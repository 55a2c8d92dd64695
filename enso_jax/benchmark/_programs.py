"""How is one experiment of a grade run alone, by what grading itself runs?

The one module of the benchmark that knows private names of `enso_jax.grading`.
"""

import contextlib
import functools
from collections.abc import Callable
from typing import Final

import jax

from enso_jax.grading import _runs
from enso_jax.grading._inputs import EXPERIMENTS, experiment_inputs
from enso_jax.grading._submission import _run_of
from enso_jax.models import Step
from enso_jax.observations import Record
from enso_jax.protocol import Protocol
from enso_jax.state import MONTHS_PER_YEAR
from enso_jax.submissions import Examination, Patience, SubmissionFolder

FREE_RUN, SMOOTHER, FORECASTS = EXPERIMENTS

_SEED: Final = 0


def experiment_calls(
    step: Step, record: Record, protocol: Protocol
) -> dict[str, Callable[[], object]]:
    """For each experiment a call that runs its compiled program to the end."""
    inputs = experiment_inputs(record, protocol, _SEED, 1)
    free, smoothing, forecasting = inputs.keys

    def finished(program: Callable, *arguments: object) -> Callable[[], object]:
        return lambda: jax.block_until_ready(program(step, *arguments, protocol))

    return {
        FREE_RUN: finished(_runs._free_runs, free),
        SMOOTHER: finished(_runs._smoothings, inputs.tests, inputs.error, smoothing),
        FORECASTS: finished(_runs._forecasts, inputs.initial, inputs.start_months, forecasting),
    }


def member_steps(record: Record, protocol: Protocol) -> dict[str, int]:
    """How many steps of one member each experiment makes."""
    inputs = experiment_inputs(record, protocol, _SEED, 1)
    tests, months, _ = inputs.tests.shape
    steps = protocol.steps_per_month
    return {
        FREE_RUN: protocol.free_run_years * MONTHS_PER_YEAR * steps,
        SMOOTHER: tests * months * protocol.smoother_members * steps,
        FORECASTS: len(inputs.initial)
        * protocol.forecast_members
        * protocol.forecast_leads
        * steps,
    }


def host_run(
    files: SubmissionFolder,
    found: Examination,
    record: Record,
    protocol: Protocol,
    stack: contextlib.ExitStack,
) -> Callable[..., object]:
    """What the host engine runs for a grade, in a sandbox that is opened here and now.

    To be called with `done`, which is told each experiment as it ends.
    """
    run = _run_of(found, files, protocol.dt, 0.0, "host", Patience(), 1, stack)
    return functools.partial(run, record, protocol, seed=_SEED, replicates=1)
