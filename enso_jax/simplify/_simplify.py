"""What is the simplest form of a model that keeps its scores?

::

    step -> samples of its own run -> terms (its own, or found) -> search -> families -> choice
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from enso_jax.checkpoints import ModelGrader
from enso_jax.fitting import (
    STATISTICS_KINDS,
    Samples,
    free_parameters,
    increments,
    likelihood,
    sample,
    statistics,
    targets_of,
)
from enso_jax.grading import Submission, Terms
from enso_jax.models import Step, TermModel
from enso_jax.simplify._criteria import Criteria
from enso_jax.simplify._families import chosen, reductions_by_family
from enso_jax.simplify._reductions import INCREMENTS, Original, Reducer, Reduction, SimplifyError
from enso_jax.simplify._result import Simplification, simplification
from enso_jax.simplify._search import AS_ASKED, Search
from enso_jax.simplify.structure import Structure, find_structure


@dataclasses.dataclass(frozen=True)
class Simplified:
    """A simplification with its models.

    Attributes:
        result: what is said of it.
        original: what was reduced.
        families: the reduction of each family that has one.
        choice: the reduction that was asked for, kept or not, or the one that the search
            chose; None where none is kept.
    """

    result: Simplification
    original: Original
    families: Mapping[str, Reduction]
    choice: Reduction | None


#: What refits a reduction that was refitted by increments.
Refinement = Callable[[TermModel], TermModel]


def by_likelihood(model: TermModel, samples: Samples, terms: Terms) -> Refinement:
    """Refits all numbers by the likelihood of the original's transitions."""
    refit = likelihood(model, samples, protocol=terms.protocol)
    return lambda start: refit(start, free_parameters(start)).model


def by_statistics(model: TermModel, samples: Samples, terms: Terms) -> Refinement:
    """Refits what the climate depends on most to the climate of the original."""
    refit = statistics(model, targets_of(samples.monthly), protocol=terms.protocol, seed=terms.seed)
    return lambda start: refit(start, free_parameters(start, STATISTICS_KINDS)).model


#: Refits other than by increments: from the original in terms, its samples, and what it is
#: graded on.
REFINEMENTS: Final[Mapping[str, Callable[[TermModel, Samples, Terms], Refinement]]] = {
    "likelihood": by_likelihood,
    "statistics": by_statistics,
}


def simplify(
    step: Step,
    about: Submission,
    search: Search,
    grader: ModelGrader,
    *,
    criteria: Criteria | None = None,
    refit: str = INCREMENTS,
    search_name: str = "backward",
    stage: Callable[[str], None] = lambda stage: None,
    expected: Callable[[int], None] = lambda models: None,
    done: Callable[[], None] = lambda: None,
) -> Simplified:
    """Simplifies a model: a `TermModel` by its own terms, any other by those that are found.

    A search refits by increments, which takes no time; where another refit is asked for, what
    the search ends in is refitted by that and graded again.

    Args:
        step: the model.
        about: what its results say of it.
        search: `backward`, `exhaustive` or `only(groups)`.
        grader: how models are graded, with all replicates.
        criteria: what a reduction has to keep; the paper's if None.
        refit: increments, or one of `REFINEMENTS`.
        search_name: of the search, to be said.
        stage: told what begins.
        expected, done: told how many models more are to be graded, and as each of them is.

    Raises:
        SimplifyError: if the model is invalid, or its structure is not reached by the library.
        GroupError: if nothing can be dropped, or too much for the search.
        GraderError, OutputError: as `ModelGrader`.
    """
    protocol = grader.terms.protocol
    stage("running the original")
    samples = sample(step, protocol, seed=grader.terms.seed)
    require_finite(samples)
    if isinstance(step, TermModel):
        found, model = None, step
    else:
        stage("finding its terms")
        found = found_terms(samples)
        model = found.model
    original = Original(step, about, model, samples)
    stage("grading reductions")
    reducer = Reducer(
        original,
        increments(model, samples),
        grader,
        criteria or Criteria(),
        expected=expected,
        done=done,
    )
    paths = search(reducer)
    families = reductions_by_family(reducer.confirmed.values())
    asked = [path.reductions[-1] for path in paths if path.start == AS_ASKED]
    choice = asked[0] if asked else chosen(reducer.confirmed.values())
    if refit != INCREMENTS:
        stage(f"refitting by {refit}")
        refine = REFINEMENTS[refit](model, samples, grader.terms)
        several = (*families.values(), choice)
        ends = {one.dropped: one for one in several if one is not None and one.dropped}
        refined = {end: reducer.refine(one, refit, refine) for end, one in ends.items()}
        better = {end: one for end, one in refined.items() if one.kept or asked}
        families = {name: better.get(one.dropped, one) for name, one in families.items()}
        choice = choice and better.get(choice.dropped, choice)
    said = simplification(
        reducer, paths, families, choice, found=found, refit=refit, search=search_name
    )
    return Simplified(said, original, families, choice)


def found_terms(samples: Samples) -> Structure:
    """The terms of a model that was not handed over in terms.

    Raises:
        SimplifyError: if they do not describe it.
    """
    structure = find_structure(samples)
    if faults := structure.faults():
        raise SimplifyError(" ".join(faults))
    return structure


def require_finite(samples: Samples) -> None:
    """Raises SimplifyError if the model did not stay finite."""
    if not all(np.isfinite(part).all() for part in (samples.state, samples.drift)):
        raise SimplifyError(
            "The model does not stay finite in its own free run, so there is nothing to simplify."
        )
