"""How is a curve of the record drawn, and beside it what models make of it?

The record's is black; a model's is the mean over the segments of all replicates, and shaded
one standard deviation to each side.
"""

from typing import Final

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from enso_jax.figures._style import BLACK, SYMBOLS, label

_SIMULATED_WARNING: Final = (
    "Scored against a simulated record (nature run), not against observations"
)


def simulated_warning(evidence: xr.Dataset) -> str | None:
    """What a figure says of a record that was not measured; None where it was."""
    return _SIMULATED_WARNING if _of_simulated_record(evidence) else None


def record_label(evidence: xr.Dataset) -> str:
    """What the record is called in a legend."""
    return "Simulated record" if _of_simulated_record(evidence) else "Observed"


def _of_simulated_record(evidence: xr.Dataset) -> bool:
    return evidence.attrs["observations_kind"] == "simulated"


def observed_curve(ax: Axes, evidence: xr.Dataset, name: str, index: str) -> None:
    """The record's curve `name` (pdf, seasonal_variance, acf) of T_C or T_E."""
    observed = evidence[f"observed_{name}_{index}"]
    points = evidence[observed.dims[0]].values
    ax.plot(points, observed.values, color=BLACK, zorder=2.1, label=record_label(evidence))


def simulated_curve(
    ax: Axes, evidence: xr.Dataset, name: str, index: str, *, colour: str, legend: tuple[str, str]
) -> None:
    """The model's curve `name`; `legend` is of its mean and of its shading."""
    simulated = evidence[f"{name}_{index}"]
    points = evidence[simulated.dims[-1]].values
    mean = simulated.mean(("replicate", "segment")).values
    deviation = simulated.std(("replicate", "segment")).values
    band(ax, points, mean, deviation, colour=colour, legend=legend)


def band(
    ax: Axes,
    points: np.ndarray,
    mean: np.ndarray,
    deviation: np.ndarray,
    *,
    colour: str,
    legend: tuple[str, str],
) -> None:
    """A mean, shaded to `deviation` above and below."""
    ax.plot(points, mean, color=colour, label=legend[0])
    ax.fill_between(
        points, mean - deviation, mean + deviation, color=colour, alpha=0.25, lw=0, label=legend[1]
    )


def density_axis(ax: Axes, evidence: xr.Dataset, index: str) -> None:
    """The axes, the units and the title of the probability density of T_C or T_E."""
    grid = evidence["anomaly"]
    ax.set_title(f"{SYMBOLS[index]}: probability density")
    ax.set_xlim(*grid.values[[0, -1]])
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(label(f"{SYMBOLS[index]} anomaly", grid.attrs["units"]))
    ax.set_ylabel(label("Density", evidence[f"pdf_{index}"].attrs["units"]))
