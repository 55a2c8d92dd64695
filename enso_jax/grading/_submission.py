"""How is a folder of someone's code graded? As a built-in model is, once it is known what it is.

::

    read the files -> examine in a sandbox -> a program: compiled, the sandbox is closed
                                           -> none:      called in a sandbox, step by step
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from enso_jax.experiments import Advance
from enso_jax.grading._grade import Grade, Run, grade_run
from enso_jax.grading._host_runs import Host, run_on_host
from enso_jax.grading._result import Submission
from enso_jax.grading._runs import run_experiments
from enso_jax.models import Shifted
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
    name = folder.resolve().name
    about = Submission(name=name, form=None, engine=None, digest=None)
    with contextlib.ExitStack() as stack:
        run: Run
        try:
            files = read_folder(folder)
            about = about.model_copy(update={"digest": files.digest, "isolation": sandbox})
            found = examine(files, protocol.dt, sandbox, patience)
            calendar = files.months_at_1_january
            if months_at_1_january is not None:
                calendar = months_at_1_january
            run = _run_of(found, files, protocol.dt, calendar, engine, patience, replicates, stack)
            about = about.model_copy(
                update={
                    "form": found.form,
                    "engine": "host" if found.program is None or engine == "host" else "compiled",
                    "not_compiled": found.reason,
                }
            )
        except InvalidSubmission as invalid:
            run = functools.partial(_refuse, invalid)
        return grade_run(run, about, record, protocol, seed=seed, replicates=replicates, done=done)


def _run_of(
    found: Examination,
    files: SubmissionFolder,
    dt: float,
    calendar: float,
    engine: str | None,
    patience: Patience,
    replicates: int,
    stack: contextlib.ExitStack,
) -> Run:
    if found.program is not None and engine != "host":
        assert found.noise_size is not None, "a program's noise is counted"
        step = ProgramStep(found.program, dt)
        return functools.partial(run_experiments, Shifted(step, calendar) if calendar else step)
    if engine == "compiled":
        raise InvalidSubmission("raises", f"step cannot be compiled: {found.reason}")
    worker = stack.enter_context(
        open_worker(files, found.isolation, patience, patience.host_s * replicates)
    )
    worker.load(keys=False)
    noise_size = found.noise_size if found.form == "numpy" else None

    @contextlib.contextmanager
    def open_session(seed: int) -> Iterator[Advance]:
        with worker.session(seed=seed, noise_size=noise_size, calendar=calendar) as session:
            yield session

    return functools.partial(run_on_host, Host(open_session, noise_size))


def _refuse(invalid: InvalidSubmission, *inputs: object, **options: object) -> NoReturn:
    raise invalid
