"""How are all checkpoints of many runs graded, so that no work is lost or done twice?

::

    read the folders -> which keys have no result -> their outcomes -> keep each at once

Interrupted anywhere, the same call goes on: all that is kept is found by its key.
"""

import contextlib
import dataclasses
import datetime
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from enso_jax.checkpoints._outcomes import Unexamined, outcomes
from enso_jax.checkpoints._run_folder import AgentRun, Checkpoint
from enso_jax.checkpoints._schedulers import Scheduler
from enso_jax.checkpoints._store import (
    GradedCheckpoint,
    GradedRun,
    Settings,
    Store,
    result_key,
    settings_of,
    unreadable_digest,
)
from enso_jax.grading import GradeResult, Terms
from enso_jax.submissions import InvalidSubmission, choose, name_of, read_folder

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
    settings = settings_of(
        terms, engine, engine_choice=engine_choice, months_at_1_january=months_at_1_january
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
    """A checkpoint and its submission."""

    checkpoint: Checkpoint
    submission: Unexamined

    @property
    def key(self) -> str:
        return self.submission.key


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
    distinct = {one.key: one.submission for one in itertools.chain.from_iterable(found)}
    missing = [
        submission
        for key, submission in distinct.items()
        if _wanting(store.result(key), request.again)
    ]
    expected(len(missing))
    failed = {}
    ways = request.terms, request.isolation, request.engine, request.settings.months_at_1_january
    # Closed at once where this is interrupted: it has sandboxes running.
    with contextlib.closing(outcomes(missing, scheduler, *ways)) as each:
        for key, outcome in each:
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
        content = read_folder(checkpoint.folder)
        digest = content.digest
    except InvalidSubmission as fault:
        content, digest = fault, unreadable_digest(fault)
    except OSError as error:
        # Of the disk or of permissions: no fault of the submission, and no result.
        content, digest = error, unreadable_digest(InvalidSubmission("missing_file", str(error)))
    name = name_of(checkpoint.folder)
    return _Found(checkpoint, Unexamined(result_key(digest, settings), name, content))


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
