"""What becomes of each submission that has no result yet?

::

    examine (sandboxes, side by side) -> breaks the contract: its result is there
                                      -> a program:           tasks of one structure, scheduler
                                      -> none:                called here, side by side

Each outcome is given as soon as it is there: a result, or the error of the grader's own
that stands in its way and costs no other submission its result.
"""

import concurrent.futures
import dataclasses
import itertools
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, TypeVar

from enso_jax.checkpoints._models import graded_models
from enso_jax.checkpoints._schedulers import Scheduler
from enso_jax.grading import (
    Examined,
    GradeResult,
    Submission,
    Terms,
    examine_submission,
    grade_examined,
    unexamined,
)
from enso_jax.submissions import InvalidSubmission, SubmissionFolder, end_sandboxes

#: Submissions that are examined before any of them is graded: as many as a run has, about. An
#: interruption loses no more examinations than these.
_AT_A_TIME: Final = 64
_LOOK_EVERY_S: Final = 0.1

#: A key, and its result or what went wrong in the grader.
_One = tuple[str, GradeResult | Exception]
_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


@dataclasses.dataclass(frozen=True)
class Unexamined:
    """A submission of which none of the code has run.

    Attributes:
        key: of its result.
        name: what its result calls it.
        content: its files, or what is wrong with them or with reading them.
    """

    key: str
    name: str
    content: SubmissionFolder | InvalidSubmission | OSError


def outcomes(
    submissions: Sequence[Unexamined],
    scheduler: Scheduler,
    terms: Terms,
    isolation: str,
    engine: str | None,
    months_at_1_january: float | None,
) -> Generator[_One, None, None]:
    """The key of each submission and its result, or the grader's error; in no certain order.

    Closed early, it ends the sandboxes that it has running.

    Args:
        submissions: with keys that are different.
        scheduler: what grades those that are compiled.
        terms: record, protocol, seed and replicates.
        isolation, engine, months_at_1_january: as `grade_submission`.
    """

    def examined(one: Unexamined) -> Examined | GradeResult:
        return _examined(one, terms, isolation, engine, months_at_1_january)

    remaining = iter(submissions)
    while several := list(itertools.islice(remaining, _AT_A_TIME)):
        found: dict[str, Examined] = {}
        for one, outcome in _side_by_side(examined, several):
            if isinstance(outcome, Examined):
                found[one.key] = outcome
            else:
                yield one.key, outcome
        # In the order of the runs, whichever sandbox was the fastest.
        ordered = [(one.key, found[one.key]) for one in several if one.key in found]
        compiled = [
            (key, examined.step, examined.about)
            for key, examined in ordered
            if examined.step is not None
        ]
        yield from graded_models(compiled, terms, scheduler)
        yield from _called(ordered, terms)


def _examined(
    one: Unexamined,
    terms: Terms,
    isolation: str,
    engine: str | None,
    months_at_1_january: float | None,
) -> Examined | GradeResult:
    about = Submission(name=one.name, form=None, engine=None, digest=None)
    try:
        if not isinstance(one.content, SubmissionFolder):
            raise one.content
        about = unexamined(one.content, isolation)
        return examine_submission(
            one.content, terms.protocol, isolation, engine, months_at_1_january
        )
    except InvalidSubmission as fault:
        return terms.invalid(fault, about)


def _called(models: Sequence[tuple[str, Examined]], terms: Terms) -> Iterator[_One]:
    """Those whose own code makes the steps, in sandboxes here: a worker may have none."""

    def graded(model: tuple[str, Examined]) -> GradeResult:
        return grade_examined(
            model[1],
            terms.record,
            terms.protocol,
            seed=terms.seed,
            replicates=terms.replicates,
        ).result

    called = [(key, examined) for key, examined in models if examined.step is None]
    for (key, _), outcome in _side_by_side(graded, called):
        yield key, outcome


def _side_by_side(
    function: Callable[[_Item], _Made], items: Sequence[_Item]
) -> Iterator[tuple[_Item, _Made | Exception]]:
    """Each item and what `function` makes of it or raises, as soon as it is there.

    Each works in a sandbox, which is a process, so threads have one for every core.
    """
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        item_of = {pool.submit(function, item): item for item in items}
        try:
            for future in concurrent.futures.as_completed(item_of):
                error = future.exception()
                if error is not None and not isinstance(error, Exception):
                    raise error
                yield item_of[future], future.result() if error is None else error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # Again and again: a thread may be about to open the next sandbox.
            while any(future.running() for future in item_of):
                end_sandboxes()
                time.sleep(_LOOK_EVERY_S)
            raise
