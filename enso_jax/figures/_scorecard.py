"""Where does a model agree with the record, and where does it fail?

The fifteen panels of Figure 4 of the paper, from the evidence of one grade alone::

    a b c d     T_C: PDF, seasonal variance, ACF;  counts of events
    e f g h     T_E: the same;                     strength and longitude of El Ninos
    i to m  n   the five reconstructions;          forecasts of T_C
            o                                      forecasts of T_E
"""

from typing import Final

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from enso_jax.figures._curves import (
    band,
    density_axis,
    observed_curve,
    record_label,
    simulated_curve,
    simulated_warning,
)
from enso_jax.figures._style import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    PALE_GREY,
    STYLE,
    SYMBOLS,
    calendar_axis,
    heading,
    label,
    longitude_axis,
    longitude_text,
    new_figure,
    shared_legend,
    stack,
    title,
    years,
    zero_line,
)
from enso_jax.protocol import Protocol
from enso_jax.scores import INDICES, TESTS, nse, predictive_score, region, withheld
from enso_jax.state import MONTHS_PER_YEAR

SIMULATED: Final = "Simulated"
PERSISTENCE: Final = "Persistence"
_SHADING: Final = "± 1 s.d. (a-c, e-g: over segments; i-m: ensemble)"

#: Relative widths; the last one holds eight longitudes.
_COLUMNS: Final = (1.0, 1.0, 1.0, 1.2)
_RECONSTRUCTIONS: Final = tuple((test, name) for test in TESTS for name in withheld(test))
#: More points than these only cost time in a density.
_DENSITY_POINTS: Final = 3000


def scorecard(evidence: xr.Dataset) -> Figure:
    """Draws a grade.

    Simulated curves are means over segments and replicates. The efficiencies and
    correlations are the means over replicates that `scores.json` has.

    Args:
        evidence: the dataset of `Grade.evidence`, or of `experiments.nc`.
    """
    protocol = Protocol.from_json(evidence.attrs["protocol"])
    with matplotlib.rc_context(STYLE):
        figure = new_figure(11.0, 12.6)
        panels = _panels(figure)
        for letters, index in zip(("abc", "efg"), INDICES, strict=True):
            _curve(panels[letters[0]], evidence, "pdf", index)
            density_axis(panels[letters[0]], evidence, index)
            _seasonal_variance(panels[letters[1]], evidence, index)
            _acf(panels[letters[2]], evidence, index)
        _event_counts(panels["d"], evidence, protocol)
        _diversity(panels["h"], evidence, protocol)
        for letter, (test, name) in zip("ijklm", _RECONSTRUCTIONS, strict=True):
            _reconstruction(panels[letter], evidence, test, name, protocol)
        panels["m"].set_xlabel("Year")
        correlations = _correlations(evidence, protocol)
        for letter, index in zip("no", INDICES, strict=True):
            _forecast_skill(panels[letter], evidence, index, correlations)
        for letter, ax in panels.items():
            title(ax, letter, ax.get_title())
        figure.align_ylabels([panels[letter] for letter in "ijklm"])
        _heading(figure, evidence)
        shared_legend(figure, columns=4)
    return figure


# --- The sheet ------------------------------------------------------------------------


def _panels(figure: Figure) -> dict[str, Axes]:
    """The panels by letter."""
    top, bottom = figure.add_gridspec(2, 1, height_ratios=(1.0, 1.35))
    statistics = top.subgridspec(2, 4, width_ratios=_COLUMNS)
    lower = bottom.subgridspec(1, 2, width_ratios=(sum(_COLUMNS[:3]), _COLUMNS[3]))
    panels = {
        letter: figure.add_subplot(statistics[divmod(number, 4)])
        for number, letter in enumerate("abcdefgh")
    }
    panels |= stack(figure, lower[0, 0], "ijklm", one_x=True)
    panels |= stack(figure, lower[0, 1], "no", one_x=False)
    return panels


def _heading(figure: Figure, evidence: xr.Dataset) -> None:
    about, replicates = evidence.attrs, evidence.sizes["replicate"]
    detail = (
        f"against {about['observations']}, {replicates} replicate{'s' * (replicates > 1)}, "
        f"seed {about['seed']}, protocol {about['protocol_digest'][:8]}, {about['source']}"
    )
    heading(figure, about["submission"], detail, simulated_warning(evidence))


# --- Statistics -----------------------------------------------------------------------


def _seasonal_variance(ax: Axes, evidence: xr.Dataset, index: str) -> None:
    _curve(ax, evidence, "seasonal_variance", index)
    ax.set_title(f"{SYMBOLS[index]}: seasonal variance")
    ax.set_ylim(bottom=0.0)
    calendar_axis(ax)
    ax.set_ylabel(label("Variance", evidence[f"seasonal_variance_{index}"].attrs["units"]))


def _acf(ax: Axes, evidence: xr.Dataset, index: str) -> None:
    _curve(ax, evidence, "acf", index)
    zero_line(ax)
    longest = int(evidence["lag"].max())
    ax.set_title(f"{SYMBOLS[index]}: autocorrelation")
    ax.set_xlim(0, longest)
    ax.set_xticks(range(0, longest + 1, MONTHS_PER_YEAR))
    ax.set_xlabel("Lag (months)")
    ax.set_ylabel(label("Autocorrelation", evidence[f"acf_{index}"].attrs["units"]))


def _curve(ax: Axes, evidence: xr.Dataset, name: str, index: str) -> None:
    """Mean and standard deviation over all segments, against the record's curve."""
    observed_curve(ax, evidence, name, index)
    simulated_curve(ax, evidence, name, index, colour=BLUE, legend=(SIMULATED, _SHADING))


def _event_counts(ax: Axes, evidence: xr.Dataset, protocol: Protocol) -> None:
    types = [str(name) for name in evidence["event_type"].values]
    places = np.arange(len(types))
    counts = evidence["event_count"].transpose("event_type", ...).values.reshape(len(types), -1)
    mean = counts.mean(axis=1)
    low, high = np.percentile(counts, [2.5, 97.5], axis=1)
    ax.vlines(
        places - 0.13, low, high, color=BLUE, alpha=0.35, lw=5, label="2.5-97.5 percentile (d)"
    )
    ax.plot(places - 0.13, mean, "o", color=BLUE, markersize=4)
    ax.plot(
        places + 0.17,
        evidence["observed_event_count"].values,
        "D",
        color=BLACK,
        markersize=3.5,
        label=record_label(evidence),
    )
    ax.set_title("Event counts")
    ax.set_xticks(places, types)
    ax.tick_params(axis="x", labelsize=7.0, length=0.0)
    ax.set_xlim(-0.6, len(types) - 0.4)
    ax.set_ylim(bottom=-0.02 * counts.max())
    ax.set_xlabel("Event type")
    ax.set_ylabel(f"Events (per {protocol.event_segment_years} years)")


def _diversity(ax: Axes, evidence: xr.Dataset, protocol: Protocol) -> None:
    simulated = _points(evidence, "event")
    observed = _points(evidence, "observed_event")
    ax.scatter(
        *simulated[::-1],
        s=5,
        color=BLUE,
        alpha=float(np.clip(200.0 / max(1, simulated.shape[1]), 0.06, 0.25)),
        lw=0,
        rasterized=True,
    )
    # As faint as above, it could not be seen in the legend.
    ax.plot([], [], "o", color=BLUE, alpha=0.6, markersize=3, label="Simulated El Niños (h)")
    _region(ax, simulated, protocol.region_probability)
    ax.plot(*observed[::-1], "D", color=BLACK, markersize=3, label=record_label(evidence))
    divide = protocol.divide_longitude_dege
    ax.axvline(divide, color=GREY, ls=(0, (4, 3)), lw=0.8)
    ax.text(
        divide + 2.0, 0.98, longitude_text(divide), color=GREY, va="top",
        transform=ax.get_xaxis_transform(), fontsize=7.0,
    )  # fmt: skip
    ax.set_title("El Niño strength and location")
    longitude_axis(ax, *protocol.peak_longitudes_dege)
    ax.tick_params(axis="x", labelsize=7.0)
    ax.set_ylim(bottom=0.0)
    ax.set_ylabel(label("Peak SST anomaly", evidence["event_strength"].attrs["units"]))


def _points(evidence: xr.Dataset, prefix: str) -> np.ndarray:
    """Strength and longitude ``(2, event)`` of the events that there are."""
    names = f"{prefix}_strength", f"{prefix}_longitude"
    points = np.stack([evidence[name].values.ravel() for name in names])
    return points[:, np.isfinite(points).all(axis=0)]


def _region(ax: Axes, points: np.ndarray, probability: float) -> None:
    """The outline of the smallest region that holds `probability` of the points.

    None where the points have no density.
    """
    found = region(points[:, :: max(1, points.shape[1] // _DENSITY_POINTS)].T, probability)
    if found is None:
        return
    # Beyond four widths of the kernel there is nothing: the outline is closed.
    margins = 4.0 * np.sqrt(np.diag(found.density.covariance))
    strength, longitude = (
        np.linspace(row.min() - margin, row.max() + margin, 150)
        for row, margin in zip(points, margins, strict=True)
    )
    grid = np.stack(np.meshgrid(strength, longitude, indexing="ij"))
    values = found.density(grid.reshape(2, -1)).reshape(grid.shape[1:])
    ax.contour(longitude, strength, values, levels=[found.level], colors=[BLUE], linewidths=1.0)
    ax.plot([], [], color=BLUE, lw=1.0, label=f"Holds {probability:.0%} of them (h)")


# --- Reconstructions ------------------------------------------------------------------


def _reconstruction(
    ax: Axes, evidence: xr.Dataset, test: str, name: str, protocol: Protocol
) -> None:
    """Smoothed mean and spread of a withheld variable, against the record."""
    months = evidence["time"].values.astype("datetime64[M]").astype(int) + 1970 * MONTHS_PER_YEAR
    time = years(months)
    smoothed, spread = (
        evidence[f"{kind}_{name}"].sel(test=test) for kind in ("smoothed", "spread")
    )
    observed = evidence[f"observed_{name}"]
    spin_up = protocol.smoother_spin_up_months
    begin = months[0] / MONTHS_PER_YEAR
    ax.axvspan(
        begin, begin + spin_up / MONTHS_PER_YEAR, color=PALE_GREY, lw=0, zorder=0,
        label="Not scored (spin-up)",
    )  # fmt: skip
    band(
        ax, time, smoothed.mean("replicate").values, spread.mean("replicate").values,
        colour=BLUE, legend=(SIMULATED, _SHADING),
    )  # fmt: skip
    ax.plot(time, observed.values, color=BLACK, lw=0.9, label=record_label(evidence))
    zero_line(ax)
    efficiency = np.mean([nse(row[spin_up:], observed.values[spin_up:]) for row in smoothed.values])
    source = ", ".join(SYMBOLS[known] for known in TESTS[test])
    ax.set_title(f"{SYMBOLS[name]} reconstructed from {source}: NSE {efficiency:.2f}")
    ax.set_xlim(begin, (months[-1] + 1) / MONTHS_PER_YEAR)
    ax.set_ylabel(label(SYMBOLS[name], observed.attrs["units"]))


# --- Forecasts ------------------------------------------------------------------------


def _correlations(evidence: xr.Dataset, protocol: Protocol) -> dict[str, np.ndarray]:
    """The curves against lead of `PredictiveScore.by_lead`, averaged over the replicates."""
    means = np.stack([evidence[f"forecast_{index}"].values for index in INDICES], axis=-1)
    held_out = np.stack([evidence[f"held_out_{index}"].values for index in INDICES], axis=-1)
    curves = [predictive_score(mean, held_out, protocol).by_lead for mean in means]
    return {name: np.mean([curve[name] for curve in curves], axis=0) for name in curves[0]}


def _forecast_skill(
    ax: Axes, evidence: xr.Dataset, index: str, correlations: dict[str, np.ndarray]
) -> None:
    lead = evidence["lead"].values
    model = correlations[f"correlation/{index}"]
    persistence = correlations[f"persistence_correlation/{index}"]
    ax.plot(lead, model, "o-", color=BLUE, markersize=3, label=SIMULATED)
    ax.plot(lead, persistence, "s--", color=ORANGE, markersize=3, label=PERSISTENCE)
    zero_line(ax)
    ax.set_title(f"{SYMBOLS[index]}: forecast skill")
    ax.set_xticks(lead)
    ax.set_xlim(lead[0] - 0.5, lead[-1] + 0.5)
    ax.set_ylim(top=1.02)
    ax.set_xlabel("Lead (months)")
    ax.set_ylabel("Correlation with the record (unitless)")
