"""What is said of a simplification, and how does it lie on disk?

`simplification.json`: one `Simplification`. Never NaN; a number that is not there is null.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal

import pydantic

from enso_jax import __version__
from enso_jax.grading import DimensionScores, GradeResult, UsedObservations
from enso_jax.simplify._criteria import SCORES, Criteria, mean_score, simulated_skewness
from enso_jax.simplify._families import structure_of
from enso_jax.simplify._groups import groups_of, in_words, ordered
from enso_jax.simplify._reductions import INCREMENTS, Reducer, Reduction, change
from enso_jax.simplify._search import RemovalPath
from enso_jax.simplify.structure import Structure

SCHEMA_VERSION: Final = 1

Number = Annotated[float, pydantic.Field(allow_inf_nan=False)]


class _Frozen(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class ReductionResult(_Frozen):
    """One reduction, or the original with nothing dropped.

    A search looks at most reductions with one replicate, and gives all to the close ones.
    `structure` is its kind of drift and of noise. `changes` are mean differences from the
    original over replicates with the same noise, `change_errors` their standard errors, null
    for one replicate. `verdict` is kept, or says why it is not.
    """

    dropped: tuple[str, ...]
    refit: str | None
    replicates: int
    structure: str
    drift_coefficients: int
    scores: DimensionScores
    standard_errors: DimensionScores | None
    changes: DimensionScores
    change_errors: DimensionScores | None
    skewness: Number
    kept: bool
    verdict: str

    @property
    def refined(self) -> bool:
        """Whether it was refitted otherwise than a search does."""
        return self.refit not in (None, INCREMENTS)


class FoundStructure(_Frozen):
    """How well the terms describe a model that was not handed over in terms, by equation."""

    drift_share: dict[str, Number]
    noise_share: dict[str, Number]
    state_dependence: dict[str, Number]


class SearchPath(_Frozen):
    """What a search went through: places in `reductions`, as `RemovalPath` orders them."""

    start: str
    places: tuple[int, ...]


class Simplification(_Frozen):
    """All that was tried on one model, and what came of it.

    `submitted` has the scores of the model as it was handed over; `reductions[0]` is the same
    in terms. `refit` is what was asked for: a search refits by increments. `families` and
    `chosen` are places in `reductions`; `chosen` is null where no reduction is kept. `found` is
    null for a model that has terms of its own.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    engine_version: str
    name: str
    observations: UsedObservations
    protocol: str
    seed: int
    replicates: int
    refit: str
    search: str
    criteria: dict[str, Number]
    groups: tuple[str, ...]
    found: FoundStructure | None
    submitted: ReductionResult
    reductions: tuple[ReductionResult, ...]
    paths: tuple[SearchPath, ...]
    families: dict[str, int]
    chosen: int | None

    def to_json(self) -> str:
        """The text of `simplification.json`."""
        return self.model_dump_json(indent=2) + "\n"

    @property
    def choice(self) -> ReductionResult | None:
        """The chosen reduction."""
        return None if self.chosen is None else self.reductions[self.chosen]

    def in_words(self, dropped: Sequence[str]) -> str:
        """Groups of this model in few words: ``all nonlinear, seasonal/T_E/h_W``."""
        return in_words(dropped, self.groups)


def simplification(
    reducer: Reducer,
    paths: Sequence[RemovalPath],
    families: Mapping[str, Reduction],
    choice: Reduction | None,
    *,
    found: Structure | None,
    refit: str,
    search: str,
) -> Simplification:
    """What is said of all that `reducer` confirmed."""
    only_screened = [
        reduction
        for dropped, reduction in reducer.screened.items()
        if dropped not in reducer.confirmed
    ]
    reductions = [*reducer.confirmed.values(), *reducer.refined, *only_screened]
    place_of = {
        (reduction.dropped, reduction.refit): place for place, reduction in enumerate(reductions)
    }
    grade = reducer.grade
    return Simplification(
        engine_version=__version__,
        name=reducer.original.about.name,
        observations=grade.observations,
        protocol=grade.protocol.digest,
        seed=grade.seed,
        replicates=grade.replicates,
        refit=refit,
        search=search,
        criteria=dataclasses.asdict(reducer.criteria),
        groups=groups_of(reducer.original.model),
        found=None if found is None else _found(found),
        submitted=_submitted(reducer, reductions[0]),
        reductions=tuple(_result(reduction, reducer) for reduction in reductions),
        paths=tuple(_path(path, place_of) for path in paths),
        families={name: place_of[one.dropped, one.refit] for name, one in families.items()},
        chosen=None if choice is None else place_of[choice.dropped, choice.refit],
    )


def _result(reduction: Reduction, reducer: Reducer) -> ReductionResult:
    about = {
        "dropped": tuple(ordered(reduction.dropped, reducer.original.model)),
        "refit": reduction.refit if reduction.dropped else None,
        "structure": structure_of(reduction.pruned),
        "drift_coefficients": reduction.coefficients,
        "kept": reduction.kept,
        "verdict": verdict(reduction, reducer.grade, reducer.criteria),
    }
    return ReductionResult.model_validate(about | _scores(reduction.result, reducer.grade))


def _submitted(reducer: Reducer, in_terms: Reduction) -> ReductionResult:
    about = {
        "dropped": (),
        "refit": None,
        "structure": structure_of(in_terms.pruned),
        "drift_coefficients": in_terms.coefficients,
        "kept": True,
        "verdict": "as submitted",
    }
    return ReductionResult.model_validate(about | _scores(reducer.grade, reducer.grade))


def _scores(result: GradeResult, original: GradeResult) -> dict[str, object]:
    changes = {name: change(result, original, name) for name in SCORES}
    errors = {name: error for name, (_, error) in changes.items() if error is not None}
    return {
        "replicates": result.replicates,
        "scores": result.scores,
        "standard_errors": result.standard_errors,
        "changes": DimensionScores(**{name: value for name, (value, _) in changes.items()}),
        "change_errors": DimensionScores(**errors) if errors else None,
        "skewness": simulated_skewness(result),
    }


def verdict(reduction: Reduction, original: GradeResult, criteria: Criteria) -> str:
    """Kept, or what it falls short of."""
    if (reason := reduction.result.reason) is not None:
        return reason.message
    short = [name for name, margin in reduction.margins.items() if margin < 0.0]
    if not short:
        return "kept"
    return "; ".join(_shortfall(name, reduction, original, criteria) for name in short)


def _shortfall(name: str, reduction: Reduction, original: GradeResult, criteria: Criteria) -> str:
    if name == "skewness":
        value = simulated_skewness(reduction.result)
        return f"skewness {value:.2f} is under {value - reduction.margins[name]:.2f}"
    value = mean_score(reduction.result, name, original.replicates)
    return f"{name} {value:.3f} is under {value - reduction.margins[name]:.3f}"


def _found(structure: Structure) -> FoundStructure:
    return FoundStructure(
        drift_share=dict(structure.drift_share),
        noise_share=dict(structure.noise_share),
        state_dependence=dict(structure.state_dependence),
    )


def _path(path: RemovalPath, place_of: Mapping[tuple[frozenset[str], str], int]) -> SearchPath:
    places: Iterable[int] = (place_of[one.dropped, one.refit] for one in path.reductions)
    return SearchPath(start=path.start, places=tuple(places))
