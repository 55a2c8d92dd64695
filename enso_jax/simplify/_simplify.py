"""What is the simplest form of a model that keeps its scores?

::

    step -> samples of its own run -> terms (its own, or found) -> search -> families -> choice
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from enso_jax.checkpoints import ModelGrader
from enso_jax.fitting import Refitter, Samples, increments, likelihood, sample, statistics, targets_of
from enso_jax.grading import GradeResult, Submission
from enso_jax.models import Step, TermModel
from enso_jax.protocol import Protocol
from enso_jax.simplify._criteria import Criteria
from enso_jax.simplify._families import chosen, reductions_by_family
from enso_jax.simplify._reductions import Original, Reducer, Reduction
from enso_jax.simplify._result import Simplification, simplification
from enso_jax.simplify._search import Search
from enso_jax.simplify.structure import Structure, find_structure


class NotSimplified(Exception):
    """A model cannot be simplified. Its text is one sentence that says why."""


@dataclasses.dataclass(frozen=True)
class Simplified:
    """A simplification with its models.

    Attributes:
        result: what is said of it.
        original: what was reduced.
        families: the reduction of each family that has one.
        choice: the chosen reduction; None where none is kept.
    """

    result: Simplification
    original: Original
    families: Mapping[str, Reduction]
    choice: Reduction | None


#: Ways to refit: from the original in terms, its samples, the protocol and a seed.
REFITS: Final[Mapping[str, Callable[[TermModel, Samples, Protocol, int], Refitter]]] = {
    "increments": lambda model, samples, protocol, seed: increments(model, samples),
    "likelihood": lambda model, samples, protocol, seed: likelihood(
        model, samples, protocol=protocol
    ),
    "statistics": lambda model, samples, protocol, seed: statistics(
        model, targets_of(samples), protocol=protocol, seed=seed
    ),
}


def simplify(
    step: Step,
    about: Submission,
    search: Search,
    grader: ModelGrader,
    *,
    criteria: Criteria | None = None,
    refit: str = "increments",
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
        refit: one of `REFITS`.
        search_name: of the search, to be said.
        stage: told what begins.
        expected, done: told how many models more are to be graded, and as each of them is.

    Raises:
        NotSimplified: if the model is invalid, or its structure is not reached by the library.
        GroupError: if nothing can be dropped, or too much for the search.
        GraderError, OutputError: as `ModelGrader`.
    """
    protocol, seed = grader.terms.protocol, grader.terms.seed
    stage("running the original")
    samples = sample(step, protocol, seed=seed)
    require_finite(samples)
    found = None
    if not isinstance(step, TermModel):
        stage("finding its terms")
        found = found_terms(samples, protocol)
    original = Original(step, about, step if found is None else found.model, samples)
    stage("grading reductions")
    by_increments = REFITS["increments"](original.model, samples, protocol, seed)
    reducer = Reducer(
        original, by_increments, grader, criteria or Criteria(), expected=expected, done=done
    )
    require_valid(reducer.grade)
    paths = search(reducer)
    families = reductions_by_family(reducer.confirmed.values())
    choice = chosen(reducer.confirmed.values())
    if refit != "increments":
        stage(f"refitting by {refit}")
        refiner = REFITS[refit](original.model, samples, protocol, seed)
        better = {one.dropped: reducer.refine(one, refit, refiner) for one in families.values()}
        families = {name: better[one.dropped] for name, one in families.items()}
        if choice is not None:
            choice = better.get(choice.dropped) or reducer.refine(choice, refit, refiner)
    said = simplification(
        reducer, paths, families, choice, found=found, refit=refit, search=search_name
    )
    return Simplified(said, original, families, choice)


def found_terms(samples: Samples, protocol: Protocol) -> Structure:
    """The terms of a model that was not handed over in terms.

    Raises:
        NotSimplified: if they do not describe it.
    """
    structure = find_structure(samples, protocol)
    if faults := structure.faults():
        raise NotSimplified(" ".join(faults))
    return structure


def require_finite(samples: Samples) -> None:
    """Raises NotSimplified if the model did not stay finite."""
    if not all(np.isfinite(part).all() for part in (samples.state, samples.drift)):
        raise NotSimplified(
            "The model does not stay finite in its own free run, so there is nothing to simplify."
        )


def require_valid(grade: GradeResult) -> None:
    """Raises NotSimplified if the original is invalid."""
    if grade.reason is not None:
        raise NotSimplified(f"The model itself is invalid: {grade.reason.message}")

