"""How are many models graded that are at hand as steps, none of them twice?

::

    keys -> what the store has -> tasks of one structure -> scheduler -> keep each at once
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from enso_jax.checkpoints._schedulers import Outcome, Scheduler
from enso_jax.checkpoints._store import Settings, Store, engine_digest, result_key
from enso_jax.checkpoints._task import Grader, Model, Task, tasks_of
from enso_jax.grading import GradeResult, Submission, Terms, step_digest
from enso_jax.models import Step


class GraderError(Exception):
    """The grader failed on a model, which says nothing of the model. Its text is one sentence."""


@dataclasses.dataclass(frozen=True)
class ModelGrader:
    """Grades models by way of a store.

    Attributes:
        store: where results are found, and kept the moment they exist.
        terms: record, protocol, seed and replicates.
        settings: the same by their digests.
        scheduler: who does it.
        at_once: models in a batch; few sizes mean few compilations.
    """

    store: Store
    terms: Terms
    settings: Settings
    scheduler: Scheduler
    at_once: int

    def with_replicates(self, replicates: int, at_once: int) -> "ModelGrader":
        """The same for another number of replicates, with another size of batches."""
        return dataclasses.replace(
            self,
            terms=dataclasses.replace(self.terms, replicates=replicates),
            settings=self.settings.model_copy(update={"replicates": replicates}),
            at_once=at_once,
        )

    def __call__(
        self,
        models: Sequence[tuple[Step, Submission]],
        expected: Callable[[int], None] = lambda models: None,
        done: Callable[[], None] = lambda: None,
    ) -> list[GradeResult]:
        """A result for each model, in order.

        Args:
            models: each with what its result says of it.
            expected: told how many are to be graded.
            done: called as each of them has its result.

        Raises:
            GraderError: if the grader fails on one; the others' results are kept.
            OutputError: if the store cannot be written.
        """
        keys = [result_key(step_digest(step), self.settings) for step, _ in models]
        found: dict[str, GradeResult] = {}
        missing: dict[str, Model] = {}
        for key, (step, about) in zip(keys, models, strict=True):
            if (result := self.store.result(key)) is not None:
                found[key] = result
            else:
                missing[key] = (key, step, about)
        expected(len(missing))
        found |= self._graded(list(missing.values()), done)
        return [found[key] for key in keys]

    def _graded(
        self, models: Sequence[Model], done: Callable[[], None]
    ) -> Mapping[str, GradeResult]:
        results, failed = {}, []
        for key, outcome in graded_models(models, self.terms, self.scheduler, self.at_once):
            if isinstance(outcome, GradeResult):
                self.store.keep(key, outcome)
                results[key] = outcome
                done()
            else:
                failed.append(outcome)
        if failed:
            raise GraderError(f"{type(failed[0]).__name__}: {failed[0]}") from failed[0]
        return results


def graded_models(
    models: Iterable[Model], terms: Terms, scheduler: Scheduler, at_once: int | None = None
) -> Iterator[tuple[str, GradeResult | Exception]]:
    """The key of each model and its result, or the grader's error; in no certain order.

    Args:
        models: of any structures, with keys that are different.
        terms: record, protocol, seed and replicates.
        scheduler: who grades them.
        at_once: models in a batch; what suits their number if None.
    """
    grade = Grader(terms.record, terms.protocol, terms.seed, terms.replicates, engine_digest())
    failed: list[Task] = []
    for task, outcome in scheduler.outcomes(grade, tasks_of(models, at_once)):
        if isinstance(outcome, Exception) and len(task.keys) > 1:
            failed.append(task)
        else:
            yield from _by_key(task, outcome)
    # One of them may be to blame; the others have their results all the same.
    singles = [single for task in failed for single in task.one_by_one()]
    for task, outcome in scheduler.outcomes(grade, singles):
        yield from _by_key(task, outcome)


def _by_key(task: Task, outcome: Outcome) -> Iterator[tuple[str, GradeResult | Exception]]:
    if isinstance(outcome, Exception):
        yield from ((key, outcome) for key in task.keys)
    else:
        yield from zip(task.keys, outcome, strict=True)
