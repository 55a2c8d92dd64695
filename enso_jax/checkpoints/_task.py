"""What is one piece of the work of grading many submissions, wherever it is done?

Plain data, which goes to another process or machine as it is: models of one structure,
and the terms of their grade. What comes back is a result for each.
"""

import dataclasses
import socket
from collections.abc import Iterable, Iterator, Sequence

import jax
import numpy as np

from enso_jax.checkpoints._store import engine_digest
from enso_jax.grading import (
    MOST_AT_ONCE,
    GradeResult,
    Submission,
    batch_size,
    grade_stack,
    structure,
)
from enso_jax.models import Step
from enso_jax.observations import Record
from enso_jax.protocol import Protocol

#: The key of a result, the model, and what the result says of it.
Model = tuple[str, Step, Submission]


@dataclasses.dataclass(frozen=True)
class Task:
    """Models that are graded together.

    Attributes:
        keys: of their results.
        steps: the models, all of one structure, their numbers as NumPy arrays.
        abouts: what each one's result says of it.
        at_once: models in a batch, so that all tasks of a structure share their programs.
    """

    keys: tuple[str, ...]
    steps: tuple[Step, ...]
    abouts: tuple[Submission, ...]
    at_once: int

    def one_by_one(self) -> Iterator["Task"]:
        """A task for each model."""
        for key, step, about in zip(self.keys, self.steps, self.abouts, strict=True):
            yield Task((key,), (step,), (about,), 1)


class OtherEngineError(Exception):
    """A worker's engine is not the one under whose name results are kept."""


@dataclasses.dataclass(frozen=True)
class Grader:
    """What grades a task; called in any process of ours.

    Attributes:
        record, protocol, seed, replicates: as `grade_stack`.
        engine: `engine_digest()` of the process that keeps the results.
    """

    record: Record
    protocol: Protocol
    seed: int
    replicates: int
    engine: str

    def __call__(self, task: Task) -> list[GradeResult]:
        """A result for each of the task's models, in order.

        Raises:
            OtherEngineError: if the engine here would give other numbers.
        """
        if (here := engine_digest()) != self.engine:
            raise OtherEngineError(
                f"the worker on {socket.gethostname()} has enso-jax {here}, not {self.engine}: "
                "install the same one there."
            )
        return list(
            grade_stack(
                task.steps,
                task.abouts,
                self.record,
                self.protocol,
                seed=self.seed,
                replicates=self.replicates,
                at_once=task.at_once,
            )
        )


def tasks_of(models: Iterable[Model], at_once: int | None = None) -> list[Task]:
    """Tasks for models of any structures.

    Args:
        models: to be graded.
        at_once: models in a batch; what suits the number of each structure's if None.
    """
    alike: dict[object, list[Model]] = {}
    for key, step, about in models:
        plain = jax.tree.map(np.asarray, step)
        alike.setdefault(structure(plain), []).append((key, plain, about))
    return [
        _task(group[start : start + MOST_AT_ONCE], at_once or batch_size(len(group)))
        for group in alike.values()
        for start in range(0, len(group), MOST_AT_ONCE)
    ]


def _task(models: Sequence[Model], at_once: int) -> Task:
    keys, steps, abouts = zip(*models, strict=True)
    return Task(keys, steps, abouts, at_once)
