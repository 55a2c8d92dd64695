"""What does the record hold, and which of it was measured?

::

    a b         T_C and T_E over many decades, for the statistics
    c to g      the five indices, developed with and held out
    h i j       SST along the equator from two indices, seasonal variance, event counts
"""

from typing import Final

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from enso_jax.figures._style import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    PALE_GREY,
    SKY_BLUE,
    STYLE,
    SYMBOLS,
    VERMILLION,
    calendar_axis,
    heading,
    label,
    longitude_axis,
    new_figure,
    shared_legend,
    stack,
    title,
    years,
    zero_line,
)
from enso_jax.observations import Record, Series
from enso_jax.protocol import EVENT_TYPES, Protocol
from enso_jax.scores import INDICES, seasonal_variance
from enso_jax.state import MONTHS_PER_YEAR, VARIABLES

SIMULATED_WARNING: Final = "A simulated record (nature run): these are not observations"
STAND_IN: Final = "Stand-in: estimated, not measured"

_INDEX_COLOURS: Final = {"T_C": BLUE, "T_E": VERMILLION}


def record_figure(record: Record) -> Figure:
    """Draws a record: what is missing is a gap, what is a stand-in is marked as one.

    The long record is drawn as it is graded, each index less its own mean.
    """
    with matplotlib.rc_context(STYLE):
        figure = new_figure(11.0, 12.6)
        panels = _panels(figure)
        for letter, column in zip("ab", range(len(INDICES)), strict=True):
            _long(panels[letter], record.long, column)
        for letter, column in zip("cdefg", range(len(VARIABLES)), strict=True):
            _both_periods(panels[letter], record, column)
        panels["b"].set_xlabel("Year")
        panels["g"].set_xlabel("Year")
        _profile(panels["h"], record)
        _seasonal_variance(panels["i"], record)
        _event_counts(panels["j"], record)
        for letter, ax in panels.items():
            title(ax, letter, ax.get_title())
        figure.align_ylabels([panels[letter] for letter in "abcdefg"])
        _heading(figure, record)
        shared_legend(figure, columns=4)
    return figure


def _panels(figure: Figure) -> dict[str, Axes]:
    """The panels by letter."""
    long, both, rest = figure.add_gridspec(3, 1, height_ratios=(2.0, 4.6, 1.9))
    panels = stack(figure, long, "ab", one_x=True) | stack(figure, both, "cdefg", one_x=True)
    side_by_side = rest.subgridspec(1, 3)
    return panels | {
        letter: figure.add_subplot(side_by_side[0, number]) for number, letter in enumerate("hij")
    }


def _heading(figure: Figure, record: Record) -> None:
    stand_ins = f"{record.stand_ins} stand-ins, " if record.stand_ins else ""
    detail = f"{record.kind}, {stand_ins}digest {record.digest[:8]}: {record.description}"
    heading(figure, record.name, detail, SIMULATED_WARNING if record.simulated else None)


# --- Series ---------------------------------------------------------------------------


def _long(ax: Axes, series: Series, column: int) -> None:
    """One index less its mean, filled where it is beyond the thresholds."""
    variable = VARIABLES[column]
    time = _time(series)
    anomaly = series.values[:, column] - np.nanmean(series.values[:, column])
    threshold = Protocol().event_threshold_degc
    for sign, colour, name in ((1, VERMILLION, "El Niño"), (-1, BLUE, "La Niña")):
        ax.fill_between(
            time,
            sign * threshold,
            anomaly,
            where=sign * anomaly > threshold,
            interpolate=True,
            color=colour,
            alpha=0.6,
            lw=0,
            label=f"Beyond the {name} threshold ({sign * threshold:+g} °C)",
        )
        ax.axhline(sign * threshold, color=colour, lw=0.6, ls=(0, (4, 3)))
    _measured_and_not(ax, series, column, anomaly)
    ax.set_title(f"{_sentence(variable.long_name)}, {variable.region}, less its mean")
    ax.set_xlim(_bounds(series))
    ax.set_ylabel(label(SYMBOLS[variable.name], variable.units))


def _both_periods(ax: Axes, record: Record, column: int) -> None:
    """One of the five indices, in the years to develop with and in those held out."""
    variable = VARIABLES[column]
    periods = (
        (record.development, PALE_GREY, 0.5, "Development"),
        (record.held_out, SKY_BLUE, 0.2, "Held out"),
    )
    for series, colour, alpha, name in periods:
        begin, end = _bounds(series)
        ax.axvspan(
            begin, end, color=colour, alpha=alpha, lw=0, zorder=0,
            label=f"{name}, {begin:.0f}-{end - 1:.0f}",
        )  # fmt: skip
        _measured_and_not(ax, series, column, series.values[:, column])
    zero_line(ax)
    ax.set_title(f"{_sentence(variable.long_name)}, {variable.region}")
    ax.set_xlim(_bounds(record.development)[0], _bounds(record.held_out)[1])
    ax.set_ylabel(label(SYMBOLS[variable.name], variable.units))


def _measured_and_not(ax: Axes, series: Series, column: int, values: np.ndarray) -> None:
    """A line where `values` were measured, and marks where they are stand-ins."""
    time, stand_in = _time(series), series.is_stand_in[:, column]
    ax.plot(time, np.where(stand_in, np.nan, values), color=BLACK, lw=0.8, label="Monthly value")
    if stand_in.any():
        ax.plot(
            time, np.where(stand_in, values, np.nan), ".-", color=ORANGE, lw=0.8, markersize=4,
            label=STAND_IN,
        )  # fmt: skip


def _time(series: Series) -> np.ndarray:
    return years(series.first_month + np.arange(series.months))


def _bounds(series: Series) -> tuple[float, float]:
    """Where the first month begins and the last one ends, years."""
    begin = series.first_month / MONTHS_PER_YEAR
    return begin, begin + series.months / MONTHS_PER_YEAR


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- Statistics -----------------------------------------------------------------------


def _profile(ax: Axes, record: Record) -> None:
    profile = record.profile
    for name, values in (("T_C", profile.central), ("T_E", profile.east)):
        ax.plot(
            profile.longitude, values, color=_INDEX_COLOURS[name], label=f"{SYMBOLS[name]} (h, i)"
        )
    zero_line(ax)
    ax.set_title("Equatorial SST that goes with an index")
    longitude_axis(ax, *Protocol().peak_longitudes_dege)
    ax.set_ylabel("SST (°C per °C of the index)")


def _seasonal_variance(ax: Axes, record: Record) -> None:
    months = np.arange(1, MONTHS_PER_YEAR + 1)
    for name, variance in zip(INDICES, seasonal_variance(record.long.values.T), strict=True):
        ax.plot(months, variance, "o-", color=_INDEX_COLOURS[name], markersize=3)
    ax.set_title("Seasonal variance of the long record")
    ax.set_ylim(bottom=0.0)
    calendar_axis(ax)
    ax.set_ylabel(label("Variance", "degC2"))


def _event_counts(ax: Axes, record: Record) -> None:
    counts = [record.event_counts[name] for name in EVENT_TYPES]
    bars = ax.bar(EVENT_TYPES, counts, color=GREY, width=0.6)
    ax.bar_label(bars, padding=1.5, fontsize=7.5)
    ax.margins(y=0.12)
    ax.set_title("Event counts of the long record")
    ax.tick_params(axis="x", length=0.0)
    ax.set_xlabel("Event type")
    ax.set_ylabel(f"Events (in {record.long.months // MONTHS_PER_YEAR} years)")
