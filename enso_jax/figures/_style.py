"""How do all figures look, and how do they get on disk?

One style, one palette (Okabe and Ito's, safe for the colour-blind), one way to write
a unit, a longitude and a heading. What is written in a heading comes from submissions
and records, and may be as long and as odd as it likes.
"""

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.text import Text

from enso_jax.files import OutputError, whole_file
from enso_jax.state import MONTHS_PER_YEAR

BLACK: Final = "#000000"
ORANGE: Final = "#E69F00"
SKY_BLUE: Final = "#56B4E9"
BLUE: Final = "#0072B2"
VERMILLION: Final = "#D55E00"
GREY: Final = "#767676"
PALE_GREY: Final = "#E4E4E4"

STYLE: Final[dict[Any, Any]] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.0,
    "mathtext.fontset": "dejavusans",
    "text.usetex": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.facecolor": "white",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 8.5,
    "axes.titlepad": 4.0,
    "axes.labelsize": 8.0,
    "axes.labelpad": 2.5,
    "axes.grid": False,
    "axes.unicode_minus": True,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "lines.linewidth": 1.2,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "legend.handlelength": 2.2,
    "pdf.fonttype": 42,
    # Of the ids in an SVG, so that the same figure is the same file.
    "svg.hashsalt": "enso-jax",
}

SYMBOLS: Final[Mapping[str, str]] = {
    "T_C": r"$T_\mathrm{C}$",
    "T_E": r"$T_\mathrm{E}$",
    "h_W": r"$h_\mathrm{W}$",
    "u": "$u$",
    "tau": r"$\tau$",
}
_UNITS: Final[Mapping[str, str]] = {
    "degC": "°C",
    "degC-1": "°C⁻¹",
    "degC2": "°C²",
    "m s-1": "m s⁻¹",
    "1": "unitless",
}

_DPI: Final = 150
#: Without the date on which a file was written, which is not of the figure.
_METADATA: Final[Mapping[str, dict[str, str | None]]] = {
    "png": {"Software": "enso-jax"},
    "pdf": {"Creator": "enso-jax", "CreationDate": None},
    "svg": {"Creator": "enso-jax", "Date": None},
}

_MARGIN_INCHES: Final = 0.12
#: What is put at the end of a heading that was cut, and letters that are not even tried.
_CUT: Final = " ..."
_LONGEST: Final = 1000
_TITLE: Final = {"fontsize": 12.0, "fontweight": "bold", "color": BLACK}
_DETAIL: Final = {"fontsize": 9.0, "color": "#404040"}
_WARNING: Final = {"fontsize": 10.5, "fontweight": "bold", "color": VERMILLION}


def new_figure(width_inches: float, height_inches: float) -> Figure:
    """An empty figure whose panels make room for their own labels."""
    figure = Figure(figsize=(width_inches, height_inches), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def stack(figure: Figure, place: SubplotSpec, letters: str, *, one_x: bool) -> dict[str, Axes]:
    """Panels below each other in one place; with `one_x` the lowest one's x is that of all."""
    rows = place.subgridspec(len(letters), 1)
    panels: dict[str, Axes] = {}
    for row, letter in enumerate(letters):
        panels[letter] = figure.add_subplot(
            rows[row, 0], sharex=panels.get(letters[0]) if one_x else None
        )
        panels[letter].tick_params(labelbottom=letter == letters[-1] or not one_x)
    return panels


def label(quantity: str, units: str) -> str:
    """The text of an axis, ``T_C (°C)``, from units in the notation of the CF conventions."""
    return f"{quantity} ({_UNITS.get(units, units)})"


def title(ax: Axes, letter: str, text: str) -> None:
    """The letter of a panel at its left, and what the panel shows."""
    ax.set_title(letter, loc="left", fontweight="bold", fontsize=9.5)
    ax.set_title(text)


def heading(figure: Figure, name: str, detail: str, warning: str | None) -> None:
    """Writes up to two lines of each above the panels, which make room.

    `name` and `detail` are cut where they are longer.
    """
    width, height = figure.get_size_inches() * figure.dpi
    margin = _MARGIN_INCHES * figure.dpi
    top = height - margin
    for text, look in ((name, _TITLE), (detail, _DETAIL), (warning, _WARNING)):
        if words := printable(text or ""):
            # Names are not mathematics: a dollar in them is a dollar.
            artist = figure.text(
                0.5, top / height, "", ha="center", va="top", parse_math=False, **look
            )
            _fill(artist, words, width - 2 * margin)
            top = artist.get_window_extent().y0 - 0.4 * margin
    _keep_below(figure, (top - 0.2 * margin) / height)


def printable(text: str) -> str:
    """`text` in letters that can be drawn on one line, and no more of them than are even tried."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:_LONGEST]).strip()


def _fill(artist: Text, text: str, width: float) -> None:
    """Writes `text` into at most two lines of `width` pixels."""
    fewest = len(_CUT) + 1
    letters, drawn = max(fewest, len(text)), np.inf
    while drawn > width and letters >= fewest:
        artist.set_text(two_lines(text, letters))
        drawn = artist.get_window_extent().width
        letters = min(letters - 1, int(letters * width / drawn) + 1)


def two_lines(text: str, letters: int) -> str:
    """`text` in at most two lines of that many letters, cut where it is longer."""
    first, *more = textwrap.wrap(text, letters)
    if len(more) > 1:
        more = [more[0][: letters - len(_CUT)] + _CUT]
    return "\n".join((first, *more))


def _keep_below(figure: Figure, top: float) -> None:
    engine: Any = figure.get_layout_engine()
    # In inches: pads around an axes; as shares: the space between them.
    engine.set(rect=(0.005, 0.0, 0.99, top), w_pad=0.04, h_pad=0.04, wspace=0.02, hspace=0.01)


def shared_legend(figure: Figure, columns: int) -> None:
    """One legend for all panels, below them: every label that was drawn, once."""
    handles: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, text in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(text, handle)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns)


def years(months: np.ndarray) -> np.ndarray:
    """The middle of each month (integer dates) in years."""
    return (months + 0.5) / MONTHS_PER_YEAR


def calendar_axis(ax: Axes) -> None:
    """January to December along x."""
    ax.set_xticks(range(1, MONTHS_PER_YEAR + 1), list("JFMAMJJASOND"))
    ax.set_xlim(0.7, MONTHS_PER_YEAR + 0.3)
    ax.set_xlabel("Calendar month")


def longitude_axis(ax: Axes, west: float = 140.0, east: float = 280.0) -> None:
    """Degrees east along x, written as 140E to 80W."""
    ticks = np.arange(20.0 * np.ceil(west / 20.0), east + 1.0, 20.0)
    ax.set_xticks(ticks, [longitude_text(tick) for tick in ticks])
    ax.set_xlim(west - 5.0, east + 5.0)
    ax.set_xlabel("Longitude (degrees)")


def longitude_text(longitude_dege: float) -> str:
    """A longitude as on a map: ``140E``, ``180``, ``80W``."""
    if longitude_dege == 180.0:
        return "180"
    east = longitude_dege < 180.0
    return f"{longitude_dege:g}E" if east else f"{360.0 - longitude_dege:g}W"


def zero_line(ax: Axes) -> None:
    """A thin line at y = 0, behind everything."""
    ax.axhline(0.0, color=GREY, linewidth=0.5, zorder=0)


def save(figure: Figure, path: Path | str) -> None:
    """Writes a figure as PNG, PDF or SVG, whichever `path` ends in.

    The same figure gives the same file. A file that is already there is replaced once
    the new one is complete, and left as it is if that fails.

    Raises:
        OutputError: if `path` ends in something else, or cannot be written.
    """
    path = Path(path)
    form = path.suffix.removeprefix(".").lower()
    if form not in _METADATA:
        raise OutputError(f"{path} does not end in {_either(_METADATA)}: choose one of these.")
    with matplotlib.rc_context(STYLE), whole_file(path) as unfinished:
        figure.savefig(unfinished, format=form, dpi=_DPI, metadata=_METADATA[form])


def _either(forms: Iterable[str]) -> str:
    *others, last = (f".{form}" for form in forms)
    return f"{', '.join(others)} or {last}"
