"""Does a submission keep the contract, and will it be stable? An answer in seconds."""

import dataclasses
from pathlib import Path

import equinox as eqx
import jax
import numpy as np

from enso_jax.experiments import FINITE, SeededNoise, free_run
from enso_jax.protocol import Protocol
from enso_jax.submissions import (
    Examination,
    InvalidSubmission,
    Patience,
    ProgramStep,
    choose,
    examine,
    faults,
    read_files,
    read_folder,
)

#: Long enough to meet most instabilities of a program, short enough to wait for.
_TRIAL = Protocol(free_run_years=300, free_run_spin_up_years=20)


@dataclasses.dataclass(frozen=True)
class Validation:
    """What was found.

    Attributes:
        faults: all that breaks the contract; empty if nothing does.
        examination: what the submission is, None where it could not be looked at.
        spread: (5,), the standard deviations of a trial run of 300 years; None for a
            step that is not compiled.
    """

    faults: tuple[InvalidSubmission, ...]
    examination: Examination | None
    spread: np.ndarray | None


def validate_submission(folder: Path, isolation: str | None = None) -> Validation:
    """Looks at the submission in `folder` as a grade would, without observations.

    Raises:
        IsolationUnavailable: as `grade_submission`.
    """
    sandbox = choose(isolation)
    try:
        found = tuple(faults(read_files(folder)))
        if found:
            return Validation(found, None, None)
        examination = examine(read_folder(folder), _TRIAL.dt, sandbox, Patience())
        spread = None if examination.program is None else _trial(examination)
    except InvalidSubmission as fault:
        return Validation((fault,), None, None)
    return Validation((), examination, spread)


def _trial(examination: Examination) -> np.ndarray:
    assert examination.program is not None, "only a program is tried"
    step = ProgramStep(examination.program, _TRIAL.dt)
    run = eqx.filter_jit(free_run)(step, SeededNoise(jax.random.key(0)), _TRIAL)
    if (status := int(run.status)) != FINITE:
        raise InvalidSubmission(
            "non_finite",
            f"a free run from the zero state is not finite from its month {status + 1} on: the "
            "model is unstable at steps of 1/30 month; damp it.",
        )
    return np.asarray(run.monthly).std(axis=0)
