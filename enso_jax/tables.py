"""How are results read on a terminal? As tables, made here and printed by the commands."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.table import Table

from enso_jax.checkpoints import GradedRun
from enso_jax.grading import Detail, Estimate, GradeResult, Validation
from enso_jax.models import BuiltInModel, PublishedScores
from enso_jax.observations import Record, Series
from enso_jax.observations.check import TOLERANCES, CheckResult
from enso_jax.scores import METRICS
from enso_jax.state import MONTHS_PER_YEAR, NAMES, VARIABLES, month_label

if TYPE_CHECKING:  # a grade shows tables and simplifies nothing
    from enso_jax.simplify import ReductionResult, Simplification

_DIMENSIONS = ("statistical", "dynamical", "predictive")
_CHANGES = ("S", "D", "P", "composite")
_BARS = "▁▂▃▄▅▆▇█"


def score_table(result: GradeResult, published: PublishedScores | None) -> Table:
    """The scores of one grade: composite, dimensions, groups, components.

    `published` adds a column with the printed scores; a result of several replicates
    has one of standard errors.
    """
    table = _plain_table("", right=("score", "s.e.", "printed"))
    errors = result.standard_errors
    for name in ("composite", *_DIMENSIONS):
        value = getattr(result.scores, name)
        error = None if errors is None else getattr(errors, name)
        printed = "" if published is None else f"{getattr(published, name):.3f}"
        label = f"[bold]{METRICS[name].title}[/bold]"
        table.add_row(label, f"[bold]{value:.3f}[/bold]", _error(error), printed)
        if name in _DIMENSIONS and result.detail is not None:
            for label, estimate in _below(name, result.detail):
                table.add_row(label, f"{estimate.mean:.3f}", _error(estimate.standard_error), "")
    return table


def event_table(result: GradeResult) -> Table:
    """Simulated counts of events in a segment, with their 95% range, beside the record's."""
    table = _plain_table("Events in a segment", right=("simulated", "95% range", "record"))
    assert result.detail is not None, "an invalid model has no events"
    for name, count in result.detail.statistical.event_counts.items():
        table.add_row(
            name, f"{count.mean:.1f}", f"{count.low:.0f}-{count.high:.0f}", f"{count.observed}"
        )
    return table


def run_table(run: GradedRun, result_of: Callable[[str], GradeResult | None]) -> Table:
    """The checkpoints of a run against eligible time; its best and its final one are marked."""
    table = _plain_table("checkpoint", right=("minutes", "S", "D", "P", "composite", "s.e."))
    table.add_column("")
    results = [result_of(checkpoint.key) for checkpoint in run.checkpoints]
    composites = [-1.0 if result is None else result.scores.composite for result in results]
    best = int(np.argmax(composites))
    for place, (checkpoint, result) in enumerate(zip(run.checkpoints, results, strict=True)):
        time = "" if checkpoint.eligible_s is None else f"{checkpoint.eligible_s / 60:.0f}"
        marks = [mark for mark, at in (("best", best), ("final", len(results) - 1)) if at == place]
        table.add_row(checkpoint.name, time, *_scores_of(result), _remark(result, marks))
    return table


def _scores_of(result: GradeResult | None) -> list[str]:
    if result is None:
        return [""] * (len(_DIMENSIONS) + 2)
    errors = result.standard_errors
    values = [getattr(result.scores, name) for name in (*_DIMENSIONS, "composite")]
    return [*(f"{value:.3f}" for value in values), _error(errors and errors.composite)]


def _remark(result: GradeResult | None, marks: Iterable[str]) -> str:
    if result is None:
        return "no result: the grader failed"
    if result.reason is not None:
        return ", ".join([*marks, f"invalid: {result.reason.category}"])
    return ", ".join(marks)


def reduction_table(found: "Simplification") -> Table:
    """The model as submitted, its search's paths, other refits, and what cannot be spared.

    On a path each row drops its groups besides those of the row above; at the end, besides
    those of the choice.
    """
    table = _plain_table(
        "dropped", right=("drift", "noise", "coefficients", *_CHANGES, "skewness T_E")
    )
    table.add_column("")
    table.add_row("nothing: as submitted", *_reduction_cells(found.submitted), "")
    for path in found.paths:
        table.add_section()
        lost: tuple[str, ...] = ()
        for place in path.places:
            lost = _add_reduction(table, found, place, lost)
    refined = [place for place, one in enumerate(found.reductions) if one.refined]
    chosen = () if found.choice is None else found.choice.dropped
    for places, besides in ((refined, ()), (_beyond(found), chosen)):
        if places:
            table.add_section()
        for place in places:
            _add_reduction(table, found, place, besides)
    return table


def _add_reduction(
    table: Table, found: "Simplification", place: int, lost: Sequence[str]
) -> tuple[str, ...]:
    """Adds a row with what is dropped besides `lost`; gives all that is."""
    reduction = found.reductions[place]
    if not reduction.dropped and found.found is None:
        return ()  # the same as submitted
    besides = lost if set(lost) <= set(reduction.dropped) else ()
    more = found.in_words([group for group in reduction.dropped if group not in besides])
    what = f"+ {more}" if besides else more or "nothing: in terms"
    marks = ["chosen"] * (place == found.chosen)
    marks += [name for name, at in found.families.items() if at == place]
    if reduction.refined:
        what = f"{what}, refitted by {reduction.refit}"
    remark = ", ".join(marks) or reduction.verdict
    table.add_row(what, *_reduction_cells(reduction), remark)
    return reduction.dropped


def structure_table(found: "Iterable[Simplification]") -> Table:
    """The paper's Table 12: structure and scores of models before and after simplification."""
    table = _plain_table("model", right=("version", "drift", "noise", *_CHANGES))
    for one in found:
        reductions = [("Simplified", one.reductions[place]) for place in _reported(one)]
        for version, reduction in [("Original", one.submitted), *reductions]:
            drift, noise = _kinds(reduction)
            cells = _with_changes(reduction) if reduction.dropped else _plain_scores(reduction)
            table.add_row(one.name, version, drift, noise, *cells)
        table.add_section()
    return table


def _beyond(found: "Simplification") -> list[int]:
    """Places of the reductions that drop one group more than the choice, and are not kept."""
    if found.choice is None or not found.choice.dropped:
        return []
    dropped = set(found.choice.dropped)
    return [
        place
        for place, reduction in enumerate(found.reductions)
        if dropped < set(reduction.dropped)
        and len(reduction.dropped) == len(dropped) + 1
        and not reduction.kept
    ]


def _reported(found: "Simplification") -> list[int]:
    """The families' reductions, the best first; the choice where there are none."""
    places = sorted(
        found.families.values(), key=lambda place: -found.reductions[place].scores.composite
    )
    if not places and found.chosen is not None:
        places = [found.chosen]
    return [place for place in places if found.reductions[place].dropped]


def _reduction_cells(reduction: "ReductionResult") -> list[str]:
    return [
        *_kinds(reduction),
        f"{reduction.drift_coefficients}",
        *(_with_changes(reduction) if reduction.dropped else _plain_scores(reduction)),
        f"{reduction.skewness:.2f}",
    ]


def _kinds(reduction: "ReductionResult") -> tuple[str, str]:
    """Drift and noise as the paper writes them."""
    drift, noise = reduction.structure.split("-")
    return "NL" if drift == "nonlinear" else "L", "Mult." if noise == "multiplicative" else "Add."


def _plain_scores(reduction: "ReductionResult") -> list[str]:
    return [f"{getattr(reduction.scores, name):.3f}" for name in (*_DIMENSIONS, "composite")]


def _with_changes(reduction: "ReductionResult") -> list[str]:
    """Each score with its change from the original and the standard error of that."""
    cells = []
    for name, score in zip((*_DIMENSIONS, "composite"), _plain_scores(reduction), strict=True):
        change = getattr(reduction.changes, name)
        error = reduction.change_errors and getattr(reduction.change_errors, name)
        within = "" if error is None else f" ± {error:.3f}"
        cells.append(f"{score} ({change:+.3f}{within})")
    return cells


def validation_lines(found: Validation) -> Iterator[str]:
    """What a submission is, or what is wrong with it, a sentence a line."""
    for fault in found.faults:
        yield f"{fault.category}: {fault.message}"
    if (about := found.examination) is None:
        return
    yield f"Valid: {about.form} form, looked at in {about.isolation}."
    if about.program is not None:
        yield f"It is compiled; a step takes {about.noise_size} normals."
    else:
        yield f"It is called and not compiled, which takes many times as long: {about.reason}"
    if found.spread is not None:
        spread = ", ".join(
            f"{variable.name} {value:.3g} {variable.units}"
            for variable, value in zip(VARIABLES, found.spread, strict=True)
        )
        yield f"A free run of 300 years stays finite; standard deviations: {spread}."


def model_table(models: Iterable[BuiltInModel]) -> Table:
    """The built-in models with family, provenance and printed scores."""
    table = _plain_table("model", right=("S", "D", "P", "composite"))
    for model in models:
        scores = model.published
        lines = [f"[bold]{model.name}[/bold]", model.title, model.build().family, model.provenance]
        printed = [""] * 4
        if scores is not None:
            lines.append(f"printed scores: of {scores.of}")
            printed = [f"{getattr(scores, name):.3f}" for name in (*_DIMENSIONS, "composite")]
        table.add_row("\n".join(lines), *printed)
        table.add_section()
    return table


def record_tables(record: Record) -> Iterator[Table]:
    """For each period of a record: statistics of its indices, and how much was measured."""
    for title, series in _periods(record).items():
        table = _plain_table(
            title, right=("mean", "s.d.", "skewness", "measured", "stand-in", "missing")
        )
        for column, name in enumerate(series.names):
            values = series.values[:, column]
            present = values[np.isfinite(values)]
            anomaly = present - present.mean()
            table.add_row(
                f"  {name} ({VARIABLES[NAMES.index(name)].units})",
                f"{present.mean():.3f}",
                f"{present.std(ddof=1):.3f}",
                f"{(anomaly**3).mean() / anomaly.std() ** 3:.2f}",
                f"{series.measured[:, column].sum()}",
                f"{series.is_stand_in[:, column].sum()}",
                f"{np.isnan(values).sum()}",
            )
        yield table


def record_sparklines(record: Record) -> Iterator[str]:
    """For each index a row of bars, its yearly means from the lowest to the highest."""
    for title, series in _periods(record).items():
        yield title
        for column, name in enumerate(series.names):
            yield f"  {name:4}{_spark(series.values[:, column])}"


def check_table(result: CheckResult) -> Table:
    """For each index whether it agrees with the reference, and where it is furthest from it."""
    table = _plain_table("index", right=("", "largest difference", "tolerance", "in", "missing"))
    for index in result.indices:
        table.add_row(
            f"{index.name} ({VARIABLES[NAMES.index(index.name)].units})",
            "pass" if index.passed else "differs",
            "" if index.largest is None else f"{index.largest:.3g}",
            f"{TOLERANCES[index.name]:.3g}",
            month_label(index.month),
            f"{index.missing}",
        )
    return table


def _periods(record: Record) -> Mapping[str, Series]:
    parts = {
        "long record": record.long,
        "development": record.development,
        "held out": record.held_out,
    }
    return {
        f"{title}, {series.labels[0][:4]}-{series.labels[-1][:4]}": series
        for title, series in parts.items()
    }


def _below(dimension: str, detail: Detail) -> Iterator[tuple[str, Estimate]]:
    """The groups and components of a dimension as rows, indented by their depth."""
    if dimension != "statistical":
        for name, estimate in getattr(detail, dimension).components.items():
            kind, index = name.split("/")
            yield f"  {index} {METRICS[kind].title}", estimate
        return
    components = detail.statistical.components
    for group, estimate in detail.statistical.groups.items():
        yield f"  {METRICS[group].title}", estimate
        for name, component in components.items():
            if name.startswith(f"{group}/"):
                title = METRICS[name].title if name in METRICS else name.removeprefix(f"{group}/")
                yield f"    {title}", component


def _plain_table(first: str, right: Iterable[str]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    table.add_column(first)
    for title in right:
        table.add_column(title, justify="right")
    return table


def _error(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _spark(monthly: np.ndarray) -> str:
    """The means of a record's years as a row of bars; a blank for a year without values."""
    years = monthly.reshape(-1, MONTHS_PER_YEAR)
    present = np.isfinite(years)
    counts = present.sum(axis=1)
    means = np.where(present, years, 0.0).sum(axis=1) / np.maximum(counts, 1)
    lowest, highest = means[counts > 0].min(), means[counts > 0].max()
    levels = (means - lowest) / max(highest - lowest, np.finfo(float).tiny) * (len(_BARS) - 1)
    return "".join(
        _BARS[round(level)] if count else " " for level, count in zip(levels, counts, strict=True)
    )
