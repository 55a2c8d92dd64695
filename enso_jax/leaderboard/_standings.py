"""Which system is ahead, by how much, and is that more than chance?

A board compares results that may be compared: all were graded under the same settings.
The composite is that of the board's weights. Its standard error is the results' own under
the protocol's weights; under others it is computed from those of S, D and P as if they were
independent, since a result does not say how they vary together.

Two systems are tied if they differ by at most two standard errors of the difference, which
is computed as if their errors were independent. An invalid checkpoint scores 0, exactly.
"""

import collections
import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

import pydantic

from enso_jax.checkpoints import GradedCheckpoint, GradedRun, Settings, Store, StoreError
from enso_jax.grading import Estimate, GradeResult
from enso_jax.leaderboard._weights import (
    DIMENSIONS,
    Three,
    Weights,
    crossing_weight,
    same_weights,
    weighted,
    weighted_error,
)

BOARD_SCHEMA_VERSION: Final = 1
#: Standard errors of a difference within which two systems are tied.
TIE_ERRORS: Final = 2.0

_Number = Annotated[float, pydantic.Field(allow_inf_nan=False)]
#: How the settings' names are called in a sentence.
SETTING_WORDS: Final[Mapping[str, str]] = {
    "engine": "version of the engine",
    "protocol": "protocol",
    "observations": "record",
    "observations_name": "name of the record",
    "observations_kind": "kind of record",
    "seed": "seed",
    "replicates": "number of replicates",
    "engine_choice": "choice of engine",
    "months_at_1_january": "calendar",
}


class UnknownSystemError(Exception):
    """No system of the board has that name. Its text is one sentence with the names there are."""


class _Frozen(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class CheckpointScores(_Frozen):
    """The scores of one checkpoint, with the composite of the board's weights.

    Standard errors are null for one replicate and for an invalid checkpoint, which scores 0;
    `reason` is then why, a category and a sentence.
    """

    checkpoint: str
    eligible_s: _Number | None
    outcome: Literal["scored", "invalid"]
    reason: str | None
    statistical: Estimate
    dynamical: Estimate
    predictive: Estimate
    composite: Estimate

    def three(self) -> Three:
        """S, D, P."""
        return self.statistical.mean, self.dynamical.mean, self.predictive.mean


class Crossing(_Frozen):
    """The weight on one dimension at which a system changes places with another.

    The rest is split equally between the other two. Null where there is no such weight.
    """

    other: str
    statistical: _Number | None
    dynamical: _Number | None
    predictive: _Number | None


class Standing(_Frozen):
    """A run on the board.

    Attributes:
        rank: from 1.
        label: the system, with condition and run where that alone is not one run.
        system, condition, run, identity: as the run's.
        checkpoints: how many it has.
        final, best: of the last checkpoint; of the first of those with the highest composite.
        tied_with_above: null for the first, and where the errors are not known.
        crossing_below, crossing_reference: null for the last, and for the reference itself.
    """

    rank: int
    label: str
    system: str
    condition: str | None
    run: str
    identity: str
    checkpoints: int
    final: CheckpointScores
    best: CheckpointScores
    tied_with_above: bool | None
    crossing_below: Crossing | None
    crossing_reference: Crossing | None


class LeftOut(_Frozen):
    """A run of the store that is not on the board, and why: the end of a sentence."""

    system: str
    run: str
    why: str


class Standings(_Frozen):
    """A board: the runs of a store that may be compared, the best first.

    `weights` are of S, D and P; `by` says whose composite ranks; `reference` is a label.
    """

    schema_version: Literal[1] = BOARD_SCHEMA_VERSION
    settings: Settings
    weights: Weights
    by: Literal["final", "best"]
    reference: str | None
    rows: tuple[Standing, ...]
    left_out: tuple[LeftOut, ...]

    def ranked(self, row: Standing) -> CheckpointScores:
        """The checkpoint of a row by which the board ranks."""
        return row.final if self.by == "final" else row.best


def standings(
    store: Store,
    weights: Weights | None = None,
    *,
    by: Literal["final", "best"] = "final",
    reference: str | None = None,
) -> Standings:
    """The board of a store.

    It is of the settings under which most runs were graded, of the latest if there are
    several; it says which runs were left out.

    Args:
        store: with graded runs.
        weights: of S, D and P, with a sum of 1; None for those of the results' protocol.
        by: which checkpoint of a run ranks.
        reference: a system of the board, by label, system or run, with which all are compared.

    Raises:
        StoreError: if the folder is no store, or holds no whole run.
        UnknownSystemError: if `reference` is no one system.
    """
    runs = store.runs()
    if not runs:
        raise StoreError(
            f"{store.folder} holds no graded run: grade one with "
            f"enso-jax grade-run RUN --store {store.folder}."
        )
    settings = _most_used(runs)
    board = {run.identity for run in runs if run.settings == settings}
    left_out = [
        LeftOut(system=run.system, run=run.name, why=_difference(run.settings, settings))
        for run in runs
        if run.identity not in board
    ]
    entries: list[_Entry] = []
    for run in (run for run in runs if run.settings == settings):
        results = [store.result(checkpoint.key) for checkpoint in run.checkpoints]
        if (missing := results.count(None)) > 0:
            why = f"{missing} of its {len(results)} results are not there: grade it again"
            left_out.append(LeftOut(system=run.system, run=run.name, why=why))
            continue
        whole = [result for result in results if result is not None]
        weights = weights or _own_weights(whole[0])
        entries.append(_entry(run, whole, weights, by))
    if not entries or weights is None:
        raise StoreError(f"{store.folder} holds no run with all its results: grade the runs again.")
    entries = _labelled(entries)
    entries.sort(key=lambda entry: (-entry.ranked.composite.mean, entry.label))
    mark = None if reference is None else _find(entries, reference)
    return Standings(
        settings=settings,
        weights=weights,
        by=by,
        reference=mark and mark.label,
        rows=tuple(_rows(entries, mark)),
        left_out=tuple(left_out),
    )


# --- Which runs -----------------------------------------------------------------------------


def _most_used(runs: Sequence[GradedRun]) -> Settings:
    """The settings of most runs; of those with equally many, the ones that were used last."""
    by_settings: dict[Settings, list[GradedRun]] = collections.defaultdict(list)
    for run in runs:
        by_settings[run.settings].append(run)
    return max(
        by_settings,
        key=lambda settings: (
            len(by_settings[settings]),
            max(run.graded_at for run in by_settings[settings]),
        ),
    )


def _difference(one: Settings, other: Settings) -> str:
    differing = [
        words for name, words in SETTING_WORDS.items() if getattr(one, name) != getattr(other, name)
    ]
    return f"it was graded under another {' and '.join(differing)}"


# --- One run --------------------------------------------------------------------------------


class _Entry(NamedTuple):
    """A run before it has its place."""

    run: GradedRun
    label: str
    final: CheckpointScores
    best: CheckpointScores
    ranked: CheckpointScores


def _entry(run: GradedRun, results: Sequence[GradeResult], weights: Weights, by: str) -> _Entry:
    scores = [
        _scores(checkpoint, result, weights)
        for checkpoint, result in zip(run.checkpoints, results, strict=True)
    ]
    final = scores[-1]
    # A scored checkpoint is better than an invalid one, even with a score of 0.
    best = max(scores, key=lambda one: (one.composite.mean, one.outcome == "scored"))
    return _Entry(run, run.system, final, best, final if by == "final" else best)


def _scores(
    checkpoint: GradedCheckpoint, result: GradeResult, weights: Weights
) -> CheckpointScores:
    reason = result.reason
    return CheckpointScores(
        checkpoint=checkpoint.name,
        eligible_s=checkpoint.eligible_s,
        outcome=result.outcome,
        reason=None if reason is None else f"{reason.category}: {reason.message}",
        composite=_composite(result, weights),
        **{name: _estimate(result, name) for name in DIMENSIONS},
    )


def _composite(result: GradeResult, weights: Weights) -> Estimate:
    if same_weights(weights, _own_weights(result)):
        return _estimate(result, "composite")
    dimensions = [_estimate(result, name) for name in DIMENSIONS]
    means, errors = ([getattr(one, what) for one in dimensions] for what in Estimate.model_fields)
    known = None not in errors
    return Estimate(
        mean=weighted(_three(means), weights),
        standard_error=weighted_error(_three(errors), weights) if known else None,
    )


def _estimate(result: GradeResult, name: str) -> Estimate:
    errors = result.standard_errors
    return Estimate(
        mean=getattr(result.scores, name),
        standard_error=None if errors is None else getattr(errors, name),
    )


def _own_weights(result: GradeResult) -> Weights:
    """The weights of the protocol under which it was graded."""
    weights: Any = result.protocol.values["weights"]
    return _three(weights)


def _three(values: Sequence[float]) -> Three:
    statistical, dynamical, predictive = values
    return statistical, dynamical, predictive


# --- All runs -------------------------------------------------------------------------------


def _labelled(entries: Sequence[_Entry]) -> list[_Entry]:
    """With labels that are different: the system's name, and more only where that is shared."""
    for more in (_by_condition, _by_run, _by_identity):
        shared = collections.Counter(entry.label for entry in entries)
        entries = [
            entry._replace(label=more(entry.run)) if shared[entry.label] > 1 else entry
            for entry in entries
        ]
    return list(entries)


def _by_condition(run: GradedRun) -> str:
    return run.system if run.condition is None else f"{run.system} ({run.condition})"


def _by_run(run: GradedRun) -> str:
    return f"{_by_condition(run)} {run.name}"


def _by_identity(run: GradedRun) -> str:
    return f"{_by_run(run)} {run.identity}"


def _find(entries: Sequence[_Entry], name: str) -> _Entry:
    for names in (
        lambda entry: entry.label,
        lambda entry: entry.run.system,
        lambda entry: entry.run.name,
    ):
        found = [entry for entry in entries if names(entry) == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownSystemError(
                f"{name!r} is more than one run: write one of {_listed(found)}."
            )
    near = difflib.get_close_matches(name, [entry.label for entry in entries], n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {_listed(entries)}."
    raise UnknownSystemError(f"There is no system called {name!r} on the board: {hint}")


def _listed(entries: Sequence[_Entry]) -> str:
    return ", ".join(entry.label for entry in entries)


def _rows(entries: Sequence[_Entry], reference: _Entry | None) -> Iterator[Standing]:
    above, below = [None, *entries[:-1]], [*entries[1:], None]
    for rank, (entry, better, worse) in enumerate(zip(entries, above, below, strict=True), start=1):
        yield Standing(
            rank=rank,
            label=entry.label,
            system=entry.run.system,
            condition=entry.run.condition,
            run=entry.run.name,
            identity=entry.run.identity,
            checkpoints=len(entry.run.checkpoints),
            final=entry.final,
            best=entry.best,
            tied_with_above=None if better is None else _tied(better.ranked, entry.ranked),
            crossing_below=_crossing(entry, worse),
            crossing_reference=None if entry is reference else _crossing(entry, reference),
        )


def _tied(better: CheckpointScores, worse: CheckpointScores) -> bool | None:
    """Whether two differ by no more than chance; None if that is not known."""
    errors = [
        0.0 if one.outcome == "invalid" else one.composite.standard_error for one in (better, worse)
    ]
    known = [error for error in errors if error is not None]
    if len(known) < len(errors):
        return None
    return better.composite.mean - worse.composite.mean <= TIE_ERRORS * math.hypot(*known)


def _crossing(one: _Entry, other: _Entry | None) -> Crossing | None:
    if other is None:
        return None
    return Crossing(
        other=other.label,
        **{
            name: crossing_weight(one.ranked.three(), other.ranked.three(), name)
            for name in DIMENSIONS
        },
    )
