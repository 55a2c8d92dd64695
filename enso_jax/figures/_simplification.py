"""What did a model lose when it was reduced, and at which step?

::

    a       the distribution of T_E: the record, the original and the reduced model
    b to e  the scores along the path of removals: S, D, P and their composite
    f       the skewness of T_E along the same path
"""

import dataclasses
from collections.abc import Sequence
from typing import Final

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from enso_jax.figures._curves import (
    density_axis,
    observed_curve,
    simulated_curve,
    simulated_warning,
)
from enso_jax.figures._style import (
    BLACK,
    BLUE,
    STYLE,
    SYMBOLS,
    VERMILLION,
    heading,
    label,
    new_figure,
    printable,
    shared_legend,
    stack,
    title,
    two_lines,
)
from enso_jax.scores import METRICS

ORIGINAL: Final = "Original"
REDUCED: Final = "Reduced"
KEPT: Final = "Removal kept"
REJECTED: Final = "Removal rejected"
CHOSEN: Final = "The reduced model"

#: Of each panel of a score: its letter, its place in `PathPoint.scores` and what it is.
_SCORES: Final = (
    ("b", 0, "statistical"),
    ("c", 1, "dynamical"),
    ("d", 2, "predictive"),
    ("e", 3, "composite"),
)
_SKEWNESS: Final = "f"

#: Inches: of panel a with its labels, of a step, and of the whole where there are few steps.
_LEFT, _STEP, _NARROWEST, _HEIGHT = 4.6, 0.44, 11.0, 9.0
#: Letters in a line of what was dropped; there are at most two lines.
_LETTERS: Final = 26
_MARK: Final = 4.5


@dataclasses.dataclass(frozen=True)
class PathPoint:
    """A model on the way from the original to the reduced one.

    Attributes:
        dropped: what was removed at this step; empty for the original.
        coefficients: how many drift coefficients the model has.
        scores: statistical, dynamical, predictive and composite.
        errors: the scores' standard errors; None for a single replicate.
        skewness: of the simulated T_E.
        kept: whether the removal stands; if not, the next step begins where this one did.
        chosen: whether it is the reduced model, where the path goes on beyond it.
    """

    dropped: str
    coefficients: int
    scores: tuple[float, float, float, float]
    errors: tuple[float, float, float, float] | None
    skewness: float
    kept: bool
    chosen: bool = False


def simplification(before: xr.Dataset, after: xr.Dataset, path: Sequence[PathPoint]) -> Figure:
    """Draws the original and the reduced model, and the removals that led from one to the other.

    A line leads through what was kept; what was rejected is hollow and beside it. The dashed
    line is the original's level. A ring is around the reduced model, if one is the chosen one.

    Args:
        before, after: the datasets of `Grade.evidence` of both models, on one record.
        path: the original, and every removal in the order in which it was tried.
    """
    with matplotlib.rc_context(STYLE):
        right = max(_NARROWEST - _LEFT, _STEP * len(path))
        figure = new_figure(_LEFT + right, _HEIGHT)
        place_a, place_path = figure.add_gridspec(1, 2, width_ratios=(_LEFT, right))
        panels = {"a": figure.add_subplot(place_a)}
        panels |= stack(figure, place_path, "bcdef", one_x=True)
        _distributions(panels["a"], before, after)
        for letter, place, name in _SCORES:
            errors = [None if point.errors is None else point.errors[place] for point in path]
            _along(panels[letter], path, [point.scores[place] for point in path], errors)
            panels[letter].set_title(METRICS[name].title)
            panels[letter].set_ylabel(label("Score", "1"))
        _along(panels[_SKEWNESS], path, [point.skewness for point in path], [None] * len(path))
        panels[_SKEWNESS].set_title(f"{SYMBOLS['T_E']}: skewness")
        panels[_SKEWNESS].set_ylabel(label("Skewness", "1"))
        _removals_axis(panels[_SKEWNESS], path)
        for letter, ax in panels.items():
            title(ax, letter, ax.get_title())
        figure.align_ylabels([panels[letter] for letter in "bcdef"])
        _heading(figure, before, path)
        shared_legend(figure, columns=4)
    return figure


def _heading(figure: Figure, before: xr.Dataset, path: Sequence[PathPoint]) -> None:
    about = before.attrs
    kept = [*path[:1], *(point for point in path if point.kept)]
    reduced = next((point for point in path if point.chosen), kept[-1])
    detail = (
        f"from {path[0].coefficients} to {reduced.coefficients} drift coefficients, against "
        f"{about['observations']}, protocol {about['protocol_digest'][:8]}, {about['source']}"
    )
    heading(figure, f"{about['submission']}, reduced", detail, simulated_warning(before))


def _distributions(ax: Axes, before: xr.Dataset, after: xr.Dataset) -> None:
    observed_curve(ax, before, "pdf", "T_E")
    for evidence, name, colour in ((before, ORIGINAL, BLUE), (after, REDUCED, VERMILLION)):
        legend = (name, f"{name} ± 1 s.d. over segments (a)")
        simulated_curve(ax, evidence, "pdf", "T_E", colour=colour, legend=legend)
    density_axis(ax, before, "T_E")


def _along(
    ax: Axes,
    path: Sequence[PathPoint],
    values: Sequence[float],
    errors: Sequence[float | None],
) -> None:
    """One number of the models along the path, with error bars where there are errors."""
    places, heights = np.arange(len(path)), np.array(values)
    kept = np.array([point.kept for point in path])
    removal = places > 0
    ax.axhline(heights[0], color=BLUE, lw=0.8, ls=(0, (4, 3)), zorder=0)
    for place, error in enumerate(errors):
        if error is not None:
            colour = VERMILLION if place else BLUE
            ax.errorbar(place, heights[place], error, fmt="none", ecolor=colour, elinewidth=0.8)
    ax.plot(places[kept], heights[kept], "-", color=VERMILLION, lw=1.0)
    ax.plot(places[:1], heights[:1], "o", color=BLUE, markersize=_MARK)
    for chosen, name, fill in (
        (removal & kept, KEPT, VERMILLION),
        (removal & ~kept, REJECTED, "white"),
    ):
        if chosen.any():
            ax.plot(
                places[chosen], heights[chosen], "o", color=VERMILLION, markerfacecolor=fill,
                markersize=_MARK, label=name,
            )  # fmt: skip
    ring = np.array([point.chosen for point in path])
    if ring.any():
        ax.plot(
            places[ring], heights[ring], "o", color=BLACK, markerfacecolor="none",
            markersize=2.2 * _MARK, markeredgewidth=0.9, label=CHOSEN,
        )  # fmt: skip
    ax.margins(y=0.2)


def _removals_axis(ax: Axes, path: Sequence[PathPoint]) -> None:
    """What was dropped, and how many coefficients then were left, along x."""
    names = [
        f"{two_lines(printable(point.dropped) or 'original', _LETTERS)} ({point.coefficients})"
        for point in path
    ]
    ax.set_xticks(range(len(path)), names, rotation=45.0, ha="right", rotation_mode="anchor")
    for text in ax.get_xticklabels():
        # A dollar in a name is a dollar.
        text.set_parse_math(False)
    ax.set_xlim(-0.5, len(path) - 0.5)
    ax.set_xlabel("What was dropped (drift coefficients left)")
