"""How are all checkpoints of many runs graded, so that no work is lost or done twice?

::

    read the folders -> which keys have no result -> examine (sandboxes, side by side)
        -> tasks of one structure -> scheduler -> keep each result at once

What breaks the contract has its result as soon as that shows. Interrupted anywhere, the
same call goes on: all that is kept is found by its key.
"""

import concurrent.futures
import dataclasses
import datetime
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from enso_jax.checkpoints._run_folder import AgentRun, Checkpoint
from enso_jax.checkpoints._schedulers import Outcome, Scheduler
from enso_jax.checkpoints._store import (
    GradedCheckpoint,
    GradedRun,
    Settings,
    Store,
    result_key,
    unreadable_digest,
)
from enso_jax.checkpoints._task import Grader, Task, tasks_of
from enso_jax.grading import (
    Examined,
    GradeResult,
    Submission,
    Terms,
    examine_submission,
    grade_examined,
    unexamined,
)
from enso_jax.submissions import InvalidSubmission, SubmissionFolder, choose, read_folder

#: Submissions that are examined before any of them is graded: as many as a run has, about. An
#: interruption loses no more examinations than these.
_AT_A_TIME: Final = 64
#: What a busy machine may be to blame for.
MACHINE_DEPENDENT: Final = frozenset({"timeout", "memory", "worker_died"})


@dataclasses.dataclass(frozen=True)
class Request:
    """How submissions are to be graded.

    Attributes:
        terms: record, protocol, seed and replicates.
        settings: the same by their digests, and everything else a number depends on.
        isolation: the sandbox.
        again: whether invalid results for which a busy machine may be to blame are graded again.
    """

    terms: Terms
    settings: Settings
    isolation: str
    again: bool = False

    @property
    def engine(self) -> str | None:
        """As `grade_submission` takes it."""
        choice = self.settings.engine_choice
        return None if choice == "auto" else choice


def request_of(
    terms: Terms,
    engine: str,
    *,
    isolation: str | None = None,
    engine_choice: str = "auto",
    months_at_1_january: float | None = None,
    again: bool = False,
) -> Request:
    """A request, with the settings by which its results are found again.

    Args:
        terms: record, protocol, seed and replicates.
        engine: `engine_digest()`.
        isolation: the sandbox; the best that there is if None.
        engine_choice, months_at_1_january, again: see `Settings` and `Request`.

    Raises:
        IsolationUnavailable: if there is no sandbox, or not the one that was asked for.
    """
    record = terms.record
    settings = Settings.model_validate(
        {
            "engine": engine,
            "protocol": terms.protocol.digest(),
            "observations": record.digest,
            "observations_name": record.name,
            "observations_kind": record.kind,
            "seed": terms.seed,
            "replicates": terms.replicates,
            "engine_choice": engine_choice,
            "months_at_1_january": months_at_1_january,
        }
    )
    return Request(terms, settings, choose(isolation), again)


@dataclasses.dataclass(frozen=True)
class GradedRuns:
    """What came of it.

    Attributes:
        runs: with the keys of their results.
        new, kept: how many submissions were graded now, and how many had been before.
        failed: by key, what went wrong in the grader where there is no result.
    """

    runs: tuple[GradedRun, ...]
    new: int
    kept: int
    failed: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class _Found:
    """A checkpoint's submission: its files, or what is wrong with them."""

    checkpoint: Checkpoint
    key: str
    files: SubmissionFolder | InvalidSubmission


def grade_runs(
    runs: Sequence[AgentRun],
    store: Store,
    request: Request,
    scheduler: Scheduler,
    *,
    expected: Callable[[int], None] = lambda submissions: None,
    done: Callable[[], None] = lambda: None,
) -> GradedRuns:
    """Grades what has no result yet in `store`, and puts the runs there.

    Args:
        runs: their checkpoints may be alike; equal submissions are graded once.
        store: where results are, and are kept the moment they exist.
        request: how to grade.
        scheduler: who does it.
        expected: told how many submissions are to be graded.
        done: called as each of them has its result, or has failed.

    Raises:
        IsolationUnavailable, ObservationError, PrecisionError: as `grade_submission`.
        OutputError: if the store cannot be written.
    """
    found = [
        [_read(checkpoint, request.settings) for checkpoint in run.checkpoints] for run in runs
    ]
    missing = {
        one.key: one
        for one in itertools.chain.from_iterable(found)
        if _wanting(store.result(one.key), request.again)
    }
    distinct = {one.key for one in itertools.chain.from_iterable(found)}
    expected(len(missing))
    failed = {}
    for key, outcome in _outcomes(missing.values(), request, scheduler):
        if isinstance(outcome, GradeResult):
            store.keep(key, outcome)
        else:
            failed[key] = f"{type(outcome).__name__}: {outcome}"
        done()
    graded = tuple(
        _graded_run(run, checkpoints, request.settings)
        for run, checkpoints in zip(runs, found, strict=True)
    )
    for run in graded:
        store.keep_run(run)
    return GradedRuns(graded, len(missing) - len(failed), len(distinct) - len(missing), failed)


def _read(checkpoint: Checkpoint, settings: Settings) -> _Found:
    try:
        files = read_folder(checkpoint.folder)
    except InvalidSubmission as fault:
        return _Found(checkpoint, result_key(unreadable_digest(fault), settings), fault)
    return _Found(checkpoint, result_key(files.digest, settings), files)


def _wanting(result: GradeResult | None, again: bool) -> bool:
    if result is None:
        return True
    return again and result.reason is not None and result.reason.category in MACHINE_DEPENDENT


def _graded_run(run: AgentRun, found: Iterable[_Found], settings: Settings) -> GradedRun:
    return GradedRun(
        name=run.name,
        system=run.system,
        condition=run.condition,
        identity=run.identity,
        settings=settings,
        graded_at=datetime.datetime.now(datetime.UTC),
        checkpoints=tuple(
            GradedCheckpoint(
                name=one.checkpoint.name,
                index=one.checkpoint.index,
                eligible_s=one.checkpoint.eligible_s,
                phase=one.checkpoint.phase,
                turn=one.checkpoint.turn,
                key=one.key,
            )
            for one in found
        ),
    )


# --- The work -----------------------------------------------------------------------------

#: A key, and its result or what went wrong in the grader.
_One = tuple[str, GradeResult | Exception]


def _outcomes(found: Iterable[_Found], request: Request, scheduler: Scheduler) -> Iterator[_One]:
    remaining = iter(found)
    while several := list(itertools.islice(remaining, _AT_A_TIME)):
        compiled: list[tuple[str, Examined]] = []
        called: list[tuple[str, Examined]] = []
        for key, examined in _examined(several, request):
            if not isinstance(examined, Examined):
                yield key, examined
            else:
                (called if examined.step is None else compiled).append((key, examined))
        yield from _compiled(compiled, request, scheduler)
        yield from _called(called, request)


def _examined(
    found: Sequence[_Found], request: Request
) -> Iterator[tuple[str, Examined | GradeResult | Exception]]:
    """What each is, in order. Each sandbox is a process, so threads have them side by side."""

    def one(found: _Found) -> Examined | GradeResult | Exception:
        try:
            return _examine(found, request)
        except Exception as error:
            return error

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        try:
            yield from zip((one.key for one in found), pool.map(one, found), strict=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _examine(found: _Found, request: Request) -> Examined | GradeResult:
    name = found.checkpoint.folder.resolve().name
    about = Submission(name=name, form=None, engine=None, digest=None)
    try:
        if isinstance(found.files, InvalidSubmission):
            raise found.files
        about = unexamined(found.files, request.isolation)
        return examine_submission(
            found.files,
            request.terms.protocol,
            request.isolation,
            request.engine,
            request.settings.months_at_1_january,
        )
    except InvalidSubmission as fault:
        return request.terms.invalid(fault, about)


def _compiled(
    models: Sequence[tuple[str, Examined]], request: Request, scheduler: Scheduler
) -> Iterator[_One]:
    terms = request.terms
    grade = Grader(terms.record, terms.protocol, terms.seed, terms.replicates)
    tasks = tasks_of(
        (key, examined.step, examined.about)
        for key, examined in models
        if examined.step is not None
    )
    failed: list[Task] = []
    for task, outcome in scheduler.outcomes(grade, tasks):
        if isinstance(outcome, Exception) and len(task.keys) > 1:
            failed.append(task)
        else:
            yield from _by_key(task, outcome)
    # One of them may be to blame; the others have their results all the same.
    singles = [single for task in failed for single in task.one_by_one()]
    for task, outcome in scheduler.outcomes(grade, singles):
        yield from _by_key(task, outcome)


def _by_key(task: Task, outcome: Outcome) -> Iterator[_One]:
    if isinstance(outcome, Exception):
        yield from ((key, outcome) for key in task.keys)
    else:
        yield from zip(task.keys, outcome, strict=True)


def _called(models: Sequence[tuple[str, Examined]], request: Request) -> Iterator[_One]:
    """Those whose own code makes the steps, in sandboxes here: a worker may have none."""
    terms = request.terms
    for key, examined in models:
        try:
            graded = grade_examined(
                examined,
                terms.record,
                terms.protocol,
                seed=terms.seed,
                replicates=terms.replicates,
            )
            yield key, graded.result
        except Exception as error:
            yield key, error
