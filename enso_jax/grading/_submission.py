"""How is a folder of someone's code graded? As a built-in model is, once it is known what it is.

::

    read the files -> examine in a sandbox -> a program: compiled, the sandbox is closed
                                           -> none:      called in a sandbox, step by step
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from enso_jax.experiments import Advance
from enso_jax.grading._grade import Grade, Run, grade_run
from enso_jax.grading._host_runs import Host, run_on_host
from enso_jax.grading._result import Submission
from enso_jax.grading._runs import run_experiments
from enso_jax.models import Shifted, Step
from enso_jax.observations import Record
from enso_jax.protocol import Protocol
from enso_jax.submissions import (
    Examination,
    InvalidSubmission,
    Patience,
    ProgramStep,
    SubmissionFolder,
    choose,
    examine,
    name_of,
    open_worker,
    read_folder,
)


def grade_submission(
    folder: Path,
    record: Record,
    protocol: Protocol | None = None,
    *,
    seed: int = 0,
    replicates: int = 1,
    isolation: str | None = None,
    engine: str | None = None,
    months_at_1_january: float | None = None,
    patience: Patience | None = None,
    done: Callable[[str], None] = lambda stage: None,
) -> Grade:
    """Grades the submission in `folder`.

    Args:
        folder: see `enso_jax.submissions` for what must be in it.
        record, protocol, seed, replicates, done: as `grade`.
        isolation: the sandbox to use; the best that there is if None.
        engine: ``compiled`` or ``host``; the compiled one where it can be if None.
        months_at_1_january: the calendar, in place of what the submission says.
        patience: how long the submission may take; the contract's times if None.

    Raises:
        IsolationUnavailable: if there is no sandbox, or not the one that was asked for.
        ValueError, ObservationError, PrecisionError: as `grade`.
    """
    protocol, patience = protocol or Protocol(), patience or Patience()
    sandbox = choose(isolation)
    about = Submission(name=name_of(folder), form=None, engine=None, digest=None)
    try:
        files = read_folder(folder)
        about = unexamined(files, sandbox)
        examined = examine_submission(
            files, protocol, sandbox, engine, months_at_1_january, patience
        )
    except InvalidSubmission as invalid:
        run = functools.partial(_refuse, invalid)
        return grade_run(run, about, record, protocol, seed=seed, replicates=replicates, done=done)
    return grade_examined(
        examined, record, protocol, seed=seed, replicates=replicates, patience=patience, done=done
    )


@dataclasses.dataclass(frozen=True)
class Examined:
    """A submission of which it is known what it is.

    Attributes:
        about: what its result says of it.
        step: the model, to be compiled; None where it has to be called.
        files: the submission.
        found: what the examination found.
        calendar: model time on 1 January.
    """

    about: Submission
    step: Step | None
    files: SubmissionFolder
    found: Examination
    calendar: float


def unexamined(files: SubmissionFolder, isolation: str) -> Submission:
    """What is known of a submission before any of its code has run."""
    return Submission(
        name=files.name, form=None, engine=None, digest=files.digest, isolation=isolation
    )


def examine_submission(
    files: SubmissionFolder,
    protocol: Protocol,
    isolation: str,
    engine: str | None = None,
    months_at_1_january: float | None = None,
    patience: Patience | None = None,
) -> Examined:
    """Loads, checks and traces a submission in a sandbox; arguments as `grade_submission`.

    Raises:
        InvalidSubmission: if it breaks the contract, or is no program and has to be one.
    """
    found = examine(files, protocol.dt, isolation, patience or Patience())
    calendar = files.months_at_1_january if months_at_1_january is None else months_at_1_january
    step = None
    if found.program is not None and engine != "host":
        step = ProgramStep(found.program, protocol.dt)
        step = Shifted(step, calendar) if calendar else step
    elif engine == "compiled":
        raise InvalidSubmission("raises", f"step cannot be compiled: {found.reason}")
    about = unexamined(files, isolation).model_copy(
        update={
            "form": found.form,
            "engine": "host" if step is None else "compiled",
            "not_compiled": found.reason,
        }
    )
    return Examined(about, step, files, found, calendar)


def grade_examined(
    examined: Examined,
    record: Record,
    protocol: Protocol,
    *,
    seed: int,
    replicates: int,
    patience: Patience | None = None,
    done: Callable[[str], None] = lambda stage: None,
) -> Grade:
    """Grades a submission after its examination; arguments as `grade_submission`."""
    with contextlib.ExitStack() as stack:
        run: Run
        if examined.step is not None:
            run = functools.partial(run_experiments, examined.step)
        else:
            try:
                host = open_host(examined, patience or Patience(), replicates, stack)
                run = functools.partial(run_on_host, host)
            except InvalidSubmission as invalid:
                run = functools.partial(_refuse, invalid)
        return grade_run(
            run, examined.about, record, protocol, seed=seed, replicates=replicates, done=done
        )


def open_host(
    examined: Examined, patience: Patience, replicates: int, stack: contextlib.ExitStack
) -> Host:
    """Opens the sandbox in which a submission makes its steps, until `stack` is left."""
    found, files, calendar = examined.found, examined.files, examined.calendar
    worker = stack.enter_context(
        open_worker(files, found.isolation, patience, patience.host_s * replicates)
    )
    worker.load(keys=False)
    noise_size = found.noise_size if found.form == "numpy" else None

    @contextlib.contextmanager
    def open_session(seed: int) -> Iterator[Advance]:
        with worker.session(seed=seed, noise_size=noise_size, calendar=calendar) as session:
            yield session

    return Host(open_session, noise_size)


def _refuse(invalid: InvalidSubmission, *inputs: object, **options: object) -> NoReturn:
    raise invalid
