"""How is one experiment of a grade run alone, by what grading itself runs?

The one module of the benchmark that knows private names of `enso_jax.grading`.
"""

import contextlib
import functools
from collections.abc import Callable
from typing import Final

import jax

from enso_jax.grading import _runs
from enso_jax.grading._host_runs import run_on_host
from enso_jax.grading._inputs import EXPERIMENTS, experiment_inputs
from enso_jax.grading._submission import Examined, open_host, unexamined
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
    calls = _runs.experiment_calls([step], record, protocol, seed=_SEED, replicates=1)
    return {
        name: functools.partial(lambda call: jax.block_until_ready(call()), call)
        for name, call in calls.items()
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
    examined = Examined(unexamined(files, found.isolation), None, files, found, 0.0)
    host = open_host(examined, Patience(), 1, stack)
    return functools.partial(run_on_host, host, record, protocol, seed=_SEED, replicates=1)
