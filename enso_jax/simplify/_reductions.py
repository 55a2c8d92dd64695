"""What does a model score without some of its groups, its other terms refitted?

::

    dropped groups -> without them -> mean noise levels -> refit -> grade -> margins

Reductions of a model share its structure, its noise and the original's replicates, so they
are graded in stacks and compared pairwise. One replicate tells most of them apart; those
that it leaves close are given all.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from enso_jax.checkpoints import ModelGrader
from enso_jax.fitting import Refitter, Samples, free_parameters
from enso_jax.grading import GradeResult, Submission, submission
from enso_jax.models import Step, TermModel
from enso_jax.simplify._criteria import Criteria
from enso_jax.simplify._groups import drift_coefficients, pruned, without
from enso_jax.simplify._noise import with_mean_levels

#: Sizes of batches: of one replicate, and of all.
SCREENED_AT_ONCE: Final = 8
CONFIRMED_AT_ONCE: Final = 4
#: How a search refits.
INCREMENTS: Final = "increments"
#: A margin is close if it is no further below zero than so many deviations of one replicate.
_CLOSE: Final = 2.0


class SimplifyError(Exception):
    """A model cannot be simplified. Its text is one sentence that says why."""


@dataclasses.dataclass(frozen=True)
class Reduction:
    """A reduced model and what came of it.

    Attributes:
        dropped: the groups that are gone; none for the original in terms.
        refit: how its coefficients were found.
        model: refitted, in the structure of the original.
        result: its grade.
        margins: by criterion, how far it is above what it has to keep.
    """

    dropped: frozenset[str]
    refit: str
    model: TermModel
    result: GradeResult
    margins: Mapping[str, float]

    @property
    def kept(self) -> bool:
        """Whether it may take the place of the original."""
        return self.result.outcome == "scored" and min(self.margins.values()) >= 0.0

    @functools.cached_property
    def pruned(self) -> TermModel:
        """The model without the numbers that do nothing."""
        return pruned(self.model, self.dropped)

    @property
    def coefficients(self) -> int:
        """How many coefficients its drift has."""
        return drift_coefficients(self.model, self.dropped)

    @property
    def composite(self) -> float:
        return self.result.scores.composite


@dataclasses.dataclass(frozen=True)
class Original:
    """What is reduced.

    Attributes:
        step: as it was handed over.
        about: what its results say of it.
        model: the same in terms.
        samples: what it does along its own run.
    """

    step: Step
    about: Submission
    model: TermModel
    samples: Samples


class Reducer:
    """Makes and grades reductions of one model, and remembers those that had all replicates.

    Attributes:
        original: what is reduced.
        confirmed: by dropped groups, in the order in which they came.
        refined: what other refits made of some of them.
        screened: the same as `confirmed` for those that had one replicate.
    """

    def __init__(
        self,
        original: Original,
        refit: Refitter,
        grader: ModelGrader,
        criteria: Criteria,
        *,
        expected: Callable[[int], None] = lambda models: None,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        """See the attributes.

        Args:
            original: what is reduced.
            refit: what gives reductions their coefficients.
            grader: with all replicates.
            criteria: what a reduction has to keep.
            expected: told how many models more are to be graded.
            done: called as each of them is.
        """
        self.original = original
        self.criteria = criteria
        self.confirmed: dict[frozenset[str], Reduction] = {}
        self.refined: list[Reduction] = []
        self.screened: dict[frozenset[str], Reduction] = {}
        self._refit = refit
        self._replicates = grader.terms.replicates
        self._all = grader.with_replicates(self._replicates, CONFIRMED_AT_ONCE)
        self._one = grader.with_replicates(1, SCREENED_AT_ONCE)
        self._progress = {"expected": expected, "done": done}
        self._models: dict[frozenset[str], TermModel] = {}

    @functools.cached_property
    def grade(self) -> GradeResult:
        """The original's own result, with all replicates.

        Raises:
            SimplifyError: if it is invalid.
        """
        model = self.original.step, self.original.about
        (result,) = self._all([model], **self._progress)
        if result.reason is not None:
            raise SimplifyError(f"The model itself is invalid: {result.reason.message}")
        return result

    def confirm(self, masks: Sequence[frozenset[str]]) -> list[Reduction]:
        """These reductions, with all replicates."""
        new = [mask for mask in masks if mask not in self.confirmed]
        for reduction in self._graded(self._refitted(new), self._all):
            self.confirmed[reduction.dropped] = reduction
        return [self.confirmed[mask] for mask in masks]

    def screen(self, masks: Sequence[frozenset[str]]) -> list[Reduction]:
        """Those that may prove to be kept, by one replicate; the best composite first."""
        grader = self._all if self._replicates == 1 else self._one
        found = self._graded(self._refitted(masks), grader)
        self.screened |= {reduction.dropped: reduction for reduction in found}
        contenders = [reduction for reduction in found if self._may_be_kept(reduction)]
        return sorted(contenders, key=lambda reduction: -reduction.composite)

    def best(self, masks: Sequence[frozenset[str]]) -> Reduction | None:
        """The kept reduction of the highest composite, as far as one replicate finds it."""
        contenders = [reduction.dropped for reduction in self.screen(masks)]
        for start in range(0, len(contenders), CONFIRMED_AT_ONCE):
            confirmed = self.confirm(contenders[start : start + CONFIRMED_AT_ONCE])
            kept = [reduction for reduction in confirmed if reduction.kept]
            if kept:
                return max(kept, key=lambda reduction: reduction.composite)
        return None

    def refine(
        self, reduction: Reduction, name: str, refit: Callable[[TermModel], TermModel]
    ) -> Reduction:
        """What another refit makes of a reduction."""
        model = refit(reduction.model)
        (refined,) = self._graded({reduction.dropped: model}, self._all, name)
        self.refined.append(refined)
        return refined

    def _refitted(self, masks: Sequence[frozenset[str]]) -> dict[frozenset[str], TermModel]:
        for mask in masks:
            if mask not in self._models:
                self._models[mask] = reduced(self.original, mask, self._refit)
        return {mask: self._models[mask] for mask in masks}

    def _graded(
        self,
        models: Mapping[frozenset[str], TermModel],
        grader: ModelGrader,
        refit: str = INCREMENTS,
    ) -> list[Reduction]:
        name = self.original.about.name
        results = grader(
            [(model, submission(model, name)) for model in models.values()], **self._progress
        )
        return [
            Reduction(mask, refit, model, result, self.criteria.margins(self.grade, result))
            for (mask, model), result in zip(models.items(), results, strict=True)
        ]

    def _may_be_kept(self, reduction: Reduction) -> bool:
        if reduction.result.outcome != "scored":
            return False
        return all(
            margin >= -_CLOSE * self._deviations.get(name, 0.0)
            for name, margin in reduction.margins.items()
        )

    @functools.cached_property
    def _deviations(self) -> Mapping[str, float]:
        """Of one replicate of the original, by criterion; none where there is one replicate."""
        errors, detail = self.grade.standard_errors, self.grade.detail
        if errors is None or detail is None:
            return {}
        skewness = detail.statistical.skewness["T_E"].standard_error or 0.0
        by_name = errors.model_dump() | {"skewness": skewness}
        return {name: math.sqrt(self._replicates) * error for name, error in by_name.items()}


def reduced(original: Original, dropped: frozenset[str], refit: Refitter) -> TermModel:
    """The original's model without these groups, all that is left refitted."""
    if not dropped:
        return original.model
    start = with_mean_levels(without(original.model, dropped), dropped, original.samples)
    return refit(start, free_parameters(start)).model


def change(reduction: GradeResult, original: GradeResult, name: str) -> tuple[float, float | None]:
    """The mean difference of a score over shared replicates, and its standard error."""
    pairs = zip(reduction.replicate_scores, original.replicate_scores, strict=False)
    differences = np.array(
        [getattr(after, name) - getattr(before, name) for after, before in pairs]
    )
    if len(differences) == 0:
        return getattr(reduction.scores, name) - getattr(original.scores, name), None
    error = differences.std(ddof=1) / math.sqrt(len(differences)) if len(differences) > 1 else None
    return float(differences.mean()), None if error is None else float(error)
