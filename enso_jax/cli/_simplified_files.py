"""Which files does `enso-jax simplify` write for a model?

::

    simplification.json               all that was tried, with scores
    linear-multiplicative/            a reduced model as a submission, named by what it is
    linear-multiplicative.tex, .txt   its equations, and its coefficients beside the original's
    simplification.png                T_E before and after, and scores along the path
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

    from enso_jax.figures import PathPoint
    from enso_jax.grading import DimensionScores, Submission, Terms
    from enso_jax.models import Step
    from enso_jax.simplify import Reduction, ReductionResult, Simplification, Simplified


def write_simplified(found: "Simplified", terms: "Terms", folder: Path) -> None:
    """Writes them all; the figure and the models only where something was dropped."""
    ends = {
        (end.dropped, end.refit): end
        for end in (*found.families.values(), found.choice)
        if end is not None and end.dropped
    }
    for end in ends.values():
        _write_model(end, found, folder)
    if found.choice is not None and found.choice.dropped:
        _write_figure(found, found.choice, terms, folder)
    (folder / "simplification.json").write_text(found.result.to_json(), encoding="utf-8")


def _write_model(end: "Reduction", found: "Simplified", folder: Path) -> None:
    from enso_jax.simplify import structure_of
    from enso_jax.written import (
        coefficient_table,
        coefficients_as_latex,
        coefficients_as_text,
        latex_equations,
        write_submission,
    )

    name, model, about = structure_of(end.pruned), end.pruned, found.result
    dropped = about.in_words(sorted(end.dropped))
    write_submission(
        model,
        folder / name,
        title=f"{about.name}, simplified: {model.family}",
        provenance=(
            f"Made by enso-jax simplify from {about.name}: dropped {dropped}; the other terms "
            f"refitted by {end.refit}. Composite {end.composite:.3f}, of the original "
            f"{about.submitted.scores.composite:.3f}, on {about.observations.name} "
            f"({about.observations.kind}), seed {about.seed}, replicates {about.replicates}."
        ),
    )
    rows = coefficient_table(found.original.model, model)
    latex = f"{latex_equations(model)}\n\n{coefficients_as_latex(rows)}\n"
    equations = "\n".join([model.conventions(), "", *model.equations()])
    (folder / f"{name}.tex").write_text(latex, encoding="utf-8")
    (folder / f"{name}.txt").write_text(
        f"{equations}\n\n{coefficients_as_text(rows)}\n", encoding="utf-8"
    )


def _write_figure(found: "Simplified", choice: "Reduction", terms: "Terms", folder: Path) -> None:
    from enso_jax.figures import save, simplification

    original = found.original
    before = _evidence(original.step, original.about, terms)
    after = _evidence(choice.model, choice.result.submission, terms)
    figure = simplification(before, after, list(_points(found.result)))
    save(figure, folder / "simplification.png")


def _evidence(step: "Step", about: "Submission", terms: "Terms") -> "xr.Dataset":
    from enso_jax.grading import grade

    graded = grade(
        step, about, terms.record, terms.protocol, seed=terms.seed, replicates=terms.replicates
    )
    assert graded.evidence is not None, "what is drawn has been scored before"
    return graded.evidence


def _points(result: "Simplification") -> Iterator["PathPoint"]:
    """The path on which the choice lies, from the original on, each with what it drops."""
    from enso_jax.figures import PathPoint

    lost: set[str] = set()
    for one in (result.submitted, *_path_of_choice(result)):
        yield PathPoint(
            dropped=result.in_words([group for group in one.dropped if group not in lost]),
            coefficients=one.drift_coefficients,
            scores=_four(one.scores),
            errors=None if one.standard_errors is None else _four(one.standard_errors),
            skewness=one.skewness,
            kept=one.kept,
            chosen=one is result.choice,
        )
        lost |= set(one.dropped)


def _path_of_choice(result: "Simplification") -> list["ReductionResult"]:
    """The reductions on the way to the choice and beyond; the choice alone if there is no way."""
    assert result.choice is not None, "what is drawn has been chosen"
    for path in result.paths:
        steps = [result.reductions[place] for place in path.places]
        dropped = [set(one.dropped) for one in steps]
        nested = all(fewer < more for fewer, more in itertools.pairwise(dropped))
        if nested and result.chosen in path.places:
            return [one for one in steps if one.dropped]
    return [result.choice]


def _four(scores: "DimensionScores") -> tuple[float, float, float, float]:
    return scores.statistical, scores.dynamical, scores.predictive, scores.composite
