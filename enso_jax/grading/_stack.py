"""How are many models of one structure graded at once?

In batches that are compiled once, whatever their models' numbers: the last one is filled
up with copies of its last model. While one batch is scored, the next one runs.
"""

import collections
import concurrent.futures
import functools
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, TypeVar

import jax
import numpy as np

from enso_jax.grading._result import GradeResult, Submission
from enso_jax.grading._runs import Experiments, run_stack
from enso_jax.grading._terms import Terms
from enso_jax.models import Step
from enso_jax.observations import Record
from enso_jax.protocol import Protocol
from enso_jax.submissions import InvalidSubmission

#: More gain little time each (docs/performance.md), and a batch's results come all at once.
MOST_AT_ONCE: Final = 8

_Item = TypeVar("_Item")


def structure(step: Step) -> Hashable:
    """What two models must have in common to be graded in one stack: all but their numbers."""
    leaves, tree = jax.tree.flatten(step)
    return tree, tuple((np.shape(leaf), np.asarray(leaf).dtype) for leaf in leaves)


def grade_stack(
    steps: Sequence[Step],
    submissions: Sequence[Submission],
    record: Record,
    protocol: Protocol | None = None,
    *,
    seed: int = 0,
    replicates: int = 1,
    at_once: int | None = None,
) -> Iterator[GradeResult]:
    """Grades models of one structure; each result is the one that `grade` gives, to rounding.

    A model that does not stay finite has its own invalid result, and no part in the others'.

    Args:
        steps: the models; all must have the same `structure`.
        submissions: what each one's result says of it.
        record, protocol, seed, replicates: as `grade`.
        at_once: models in a batch; `batch_size` of how many there are if None. Stacks of one
            structure and one size share their programs.

    Yields:
        The results in order, a batch at a time.

    Raises:
        ValueError, ObservationError, PrecisionError: as `grade`; also if structures differ.
    """
    if len({structure(step) for step in steps}) > 1:
        raise ValueError("the models of a stack have one structure")
    terms = Terms.of(record, protocol, seed, replicates)
    size = at_once or batch_size(len(steps))
    run = functools.partial(_filled_run, terms, size)
    batches = list(_batches(list(zip(steps, submissions, strict=True)), size))
    for batch, experiments in _one_ahead(run, batches):
        for (_, submission), of_one in zip(batch, experiments, strict=False):
            yield _result(of_one, submission, terms)


def batch_size(models: int) -> int:
    """How many models run at once: few sizes, since each is compiled for itself."""
    size = 1
    while size < min(models, MOST_AT_ONCE):
        size *= 2
    return size


def _filled_run(
    terms: Terms, size: int, batch: Sequence[tuple[Step, Submission]]
) -> list[Experiments]:
    steps = [step for step, _ in batch]
    steps += steps[-1:] * (size - len(steps))
    return run_stack(
        steps, terms.record, terms.protocol, seed=terms.seed, replicates=terms.replicates
    )


def _result(experiments: Experiments, submission: Submission, terms: Terms) -> GradeResult:
    try:
        result, _ = terms.scored(experiments, submission)
    except InvalidSubmission as fault:
        return terms.invalid(fault, submission)
    return result


def _batches(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _one_ahead(
    function: Callable[[_Item], list[Experiments]], items: Sequence[_Item]
) -> Iterator[tuple[_Item, list[Experiments]]]:
    """Each item and what `function` makes of it, the next one already being worked on."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        begun: collections.deque[tuple[_Item, concurrent.futures.Future]] = collections.deque()
        for item in items:
            begun.append((item, pool.submit(function, item)))
            if len(begun) > 1:
                first, future = begun.popleft()
                yield first, future.result()
        for item, future in begun:
            yield item, future.result()
