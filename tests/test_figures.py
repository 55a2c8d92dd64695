"""Do the figures show what the data say, all of it, and say where the data are from?"""

import dataclasses
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib
import numpy as np
import pytest
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.lines import Line2D

from enso_jax.figures import PathPoint, record_figure, save, scorecard, simplification
from enso_jax.figures._record import STAND_IN
from enso_jax.figures._scorecard import PERSISTENCE, SIMULATED
from enso_jax.figures._simplification import CHOSEN, KEPT, ORIGINAL, REDUCED, REJECTED
from enso_jax.figures._style import heading, new_figure
from enso_jax.files import OutputError
from enso_jax.grading import Grade, grade, submission
from enso_jax.models import BUILT_IN
from enso_jax.observations import Record, Series, nature_run
from enso_jax.protocol import EVENT_TYPES, Protocol
from enso_jax.state import NAMES

CURVES = {
    "a": "pdf_T_C",
    "b": "seasonal_variance_T_C",
    "c": "acf_T_C",
    "e": "pdf_T_E",
    "f": "seasonal_variance_T_E",
    "g": "acf_T_E",
}
RECONSTRUCTIONS = {
    "i": ("A", "h_W"),
    "j": ("A", "u"),
    "k": ("A", "tau"),
    "l": ("B", "T_C"),
    "m": ("B", "T_E"),
}
#: Axes that count months or name things, and so have no unit.
WITHOUT_UNITS = {"Calendar month", "Year", "Event type"}
RECORD = "Simulated record"
WARNING = "Scored against a simulated record (nature run), not against observations"


@pytest.fixture(scope="module")
def graded() -> Grade:
    """A short grade of the built-in model on the nature run."""
    protocol = Protocol(free_run_years=150, free_run_spin_up_years=5, smoother_members=50)
    step = BUILT_IN["fable-5.1"].build()
    return grade(step, submission(step, "fable-5.1"), nature_run(), protocol, replicates=2)


@pytest.fixture(scope="module")
def evidence(graded: Grade) -> xr.Dataset:
    assert graded.evidence is not None
    return graded.evidence


@pytest.fixture(scope="module")
def card(evidence: xr.Dataset) -> dict[str, Axes]:
    return panels(scorecard(evidence))


def panels(figure: Figure) -> dict[str, Axes]:
    return {ax.get_title(loc="left"): ax for ax in figure.axes}


def line(ax: Axes, label: str) -> Line2D:
    (found,) = (line for line in ax.lines if line.get_label() == label and len(line.get_xdata()))
    return found


def drawn(ax: Axes, label: str) -> np.ndarray:
    """The y of the line with that label."""
    return np.asarray(line(ax, label).get_ydata(), dtype=float)


def headings(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.texts)


# --- The scorecard --------------------------------------------------------------------


def test_scorecard_has_the_fifteen_panels_of_the_paper(card: dict[str, Axes]) -> None:
    assert sorted(card) == list("abcdefghijklmno")


@pytest.mark.parametrize("letter", list("abcdefghijklmno"))
def test_every_axis_of_the_scorecard_has_a_label_with_units(
    card: dict[str, Axes], letter: str
) -> None:
    assert_labelled(card[letter])


def assert_labelled(ax: Axes) -> None:
    # Of panels that share their x axis, the lowest carries its label.
    if ax.xaxis.get_tick_params()["labelbottom"]:
        assert_has_units(ax.get_xlabel())
    assert_has_units(ax.get_ylabel())


def assert_has_units(text: str) -> None:
    assert text in WITHOUT_UNITS or re.fullmatch(r".+ \(.+\)", text), text


@pytest.mark.parametrize(("letter", "name"), CURVES.items())
def test_curves_are_those_of_the_dataset(
    card: dict[str, Axes], evidence: xr.Dataset, letter: str, name: str
) -> None:
    assert np.array_equal(drawn(card[letter], RECORD), evidence[f"observed_{name}"])
    mean = evidence[name].mean(("replicate", "segment"))
    assert np.array_equal(drawn(card[letter], SIMULATED), mean)


def test_shading_is_one_standard_deviation_over_all_segments(
    card: dict[str, Axes], evidence: xr.Dataset
) -> None:
    segments = evidence["seasonal_variance_T_E"].values.reshape(-1, 12)
    (band,) = card["f"].collections
    vertices = band.get_paths()[0].vertices
    january = vertices[vertices[:, 0] == 1.0, 1]
    width = 2.0 * segments[:, 0].std()
    assert np.ptp(january) == pytest.approx(width)


@pytest.mark.parametrize(("letter", "test", "name"), [(k, *v) for k, v in RECONSTRUCTIONS.items()])
def test_reconstructions_are_those_of_the_dataset(
    card: dict[str, Axes], evidence: xr.Dataset, graded: Grade, letter: str, test: str, name: str
) -> None:
    ax = card[letter]
    assert np.array_equal(drawn(ax, RECORD), evidence[f"observed_{name}"])
    smoothed = evidence[f"smoothed_{name}"].sel(test=test).mean("replicate")
    assert np.array_equal(drawn(ax, SIMULATED), smoothed)
    assert graded.result.detail is not None
    efficiency = graded.result.detail.dynamical.components[f"{test}/{name}"].mean
    assert f"NSE {efficiency:.2f}" in ax.get_title()


def test_spin_up_is_greyed(card: dict[str, Axes]) -> None:
    (grey,) = card["i"].patches
    assert (grey.get_x(), grey.get_width()) == (1980.0, 2.0)


@pytest.mark.parametrize(("letter", "index"), [("n", "T_C"), ("o", "T_E")])
def test_forecast_correlations_are_those_of_the_result(
    card: dict[str, Axes], graded: Grade, letter: str, index: str
) -> None:
    assert graded.result.detail is not None
    by_lead = graded.result.detail.predictive.by_lead
    assert drawn(card[letter], SIMULATED) == pytest.approx(by_lead[f"correlation/{index}"])
    persistence = by_lead[f"persistence_correlation/{index}"]
    assert drawn(card[letter], PERSISTENCE) == pytest.approx(persistence)


def test_events_are_those_of_the_dataset(card: dict[str, Axes], evidence: xr.Dataset) -> None:
    ax = card["d"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list(EVENT_TYPES)
    assert np.array_equal(drawn(ax, RECORD), evidence["observed_event_count"])
    (ranges,) = ax.collections
    counts = evidence["event_count"].values.reshape(-1, len(EVENT_TYPES))
    ends = np.array([segment[:, 1] for segment in ranges.get_segments()])
    assert np.allclose(ends, np.percentile(counts, [2.5, 97.5], axis=0).T)


def test_event_points_are_those_of_the_dataset(card: dict[str, Axes], evidence: xr.Dataset) -> None:
    ax = card["h"]
    assert np.array_equal(drawn(ax, RECORD), evidence["observed_event_strength"])
    observed = line(ax, RECORD).get_xdata()
    assert np.array_equal(observed, evidence["observed_event_longitude"])
    simulated = np.asarray(ax.collections[0].get_offsets())
    assert len(simulated) == np.isfinite(evidence["event_strength"]).sum()
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert ticks == ["140E", "160E", "180", "160W", "140W", "120W", "100W", "80W"]


def test_outline_holds_95_percent_of_the_simulated_events(card: dict[str, Axes]) -> None:
    points, outline = card["h"].collections
    (region,) = outline.get_paths()
    lines = region.to_polygons(closed_only=False)
    assert all(np.array_equal(line[0], line[-1]) for line in lines)
    inside = region.contains_points(points.get_offsets())
    assert inside.mean() == pytest.approx(0.95, abs=0.02)


def test_missing_observations_are_gaps(evidence: xr.Dataset) -> None:
    holes = evidence.copy()
    holes["observed_h_W"] = evidence["observed_h_W"].where(evidence["time"].dt.year != 1990)
    values = drawn(panels(scorecard(holes))["i"], RECORD)
    assert np.array_equal(np.flatnonzero(np.isnan(values)), np.arange(120, 132))


def test_events_without_a_density_have_no_outline(evidence: xr.Dataset) -> None:
    none = evidence.copy()
    for name in ("event_strength", "event_longitude"):
        none[name] = evidence[name].where(False)
    assert len(panels(scorecard(none))["h"].collections) == 1


@pytest.mark.parametrize("kind", ["simulated", "measured"])
def test_scorecard_warns_of_a_simulated_record_alone(evidence: xr.Dataset, kind: str) -> None:
    figure = scorecard(evidence.assign_attrs(observations_kind=kind))
    assert (WARNING in headings(figure)) == (kind == "simulated")
    assert any(text.get_text() == "Observed" for text in figure.legends[0].get_texts()) == (
        kind == "measured"
    )


def test_scorecard_names_submission_record_and_replicates(evidence: xr.Dataset) -> None:
    words = headings(scorecard(evidence))
    assert "fable-5.1" in words
    assert "nature-run, 2 replicates" in words


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("m", "m"),
        (" ", ""),
        ("W" * 400, "W ..."),
        ("two words " * 60, " ..."),
        (r"$\frac{a}$_^{ ", r"$\frac{a}$_^{"),
        ("tab\tand\nline", "tab and line"),
    ],
)
def test_any_name_fits_above_the_panels(name: str, shown: str) -> None:
    figure = new_figure(6.0, 3.0)
    ax = figure.add_subplot()
    heading(figure, name, "against something", "Beware")
    figure.draw_without_rendering()
    assert headings(figure).replace("\nagainst something\nBeware", "").endswith(shown)
    assert_fits(figure, ax)


def test_a_long_name_leaves_room_for_all_panels(evidence: xr.Dataset) -> None:
    figure = scorecard(evidence.assign_attrs(submission="W" * 400))
    figure.draw_without_rendering()
    assert_fits(figure, panels(figure)["a"])
    assert all(ax.get_position().height > 0.05 for ax in figure.axes)


def assert_fits(figure: Figure, highest: Axes) -> None:
    top = highest.get_tightbbox().y1
    for text in figure.texts:
        extent = text.get_window_extent()
        assert extent.x0 >= 0.0
        assert extent.x1 <= figure.bbox.width
        assert extent.y1 <= figure.bbox.height
        assert extent.y0 > top


def test_the_evidence_survives_its_file(evidence: xr.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "experiments.nc"
    evidence.to_netcdf(path, engine="netcdf4")
    with xr.open_dataset(path, engine="netcdf4", decode_timedelta=False) as reopened:
        again = panels(scorecard(reopened))
    first = panels(scorecard(evidence))
    for letter, ax in first.items():
        for before, after in zip(ax.lines, again[letter].lines, strict=True):
            assert np.array_equal(before.get_xydata(), after.get_xydata(), equal_nan=True)


# --- The record -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def patchy() -> Record:
    """The nature run with some stand-ins and some months that are missing."""
    record = nature_run()
    return dataclasses.replace(
        record,
        kind="measured",
        development=with_holes(record.development, "tau", slice(0, 24), slice(100, 103)),
        held_out=with_holes(record.held_out, "u", slice(60, 120), slice(10, 11)),
    )


def with_holes(series: Series, name: str, stand_in: slice, missing: slice) -> Series:
    values, measured = series.values.copy(), series.measured.copy()
    column = series.names.index(name)
    values[missing, column] = np.nan
    measured[missing, column] = False
    measured[stand_in, column] = False
    return dataclasses.replace(series, values=values, measured=measured)


def test_exactly_the_stand_ins_are_marked(patchy: Record) -> None:
    by_letter = panels(record_figure(patchy))
    for letter, column in zip("cdefg", range(len(NAMES)), strict=True):
        expected = [
            (1980 + (row + 0.5) / 12 + offset, series.values[row, column])
            for series, offset in ((patchy.development, 0), (patchy.held_out, 35))
            for row in np.flatnonzero(series.is_stand_in[:, column])
        ]
        marks = [mark for mark in by_letter[letter].lines if mark.get_label() == STAND_IN]
        points = [point for mark in marks for point in mark.get_xydata() if np.isfinite(point[1])]
        assert np.allclose(points, expected)
        assert all(mark.get_marker() != "None" for mark in marks)


def test_missing_months_of_the_record_are_gaps(patchy: Record) -> None:
    ax = panels(record_figure(patchy))["g"]
    line = next(line for line in ax.lines if line.get_label() == "Monthly value")
    gaps = np.flatnonzero(np.isnan(np.asarray(line.get_ydata(), dtype=float)))
    assert np.array_equal(gaps, [*range(24), 100, 101, 102])


def test_every_axis_of_the_record_has_a_label_with_units() -> None:
    figure = record_figure(nature_run())
    assert sorted(panels(figure)) == list("abcdefghij")
    for ax in figure.axes:
        assert_labelled(ax)


def test_long_record_is_drawn_less_its_mean() -> None:
    record = nature_run()
    expected = record.long.values[:, 1] - record.long.values[:, 1].mean()
    assert drawn(panels(record_figure(record))["b"], "Monthly value") == pytest.approx(expected)


def test_record_warns_where_it_is_simulated(patchy: Record) -> None:
    assert "these are not observations" in headings(record_figure(nature_run()))
    assert "not observations" not in headings(record_figure(patchy))


def test_measured_record_is_drawn_with_its_214_stand_ins(measured_record: Record) -> None:
    figure = record_figure(measured_record)
    marks = [line for ax in figure.axes for line in ax.lines if line.get_label() == STAND_IN]
    assert sum(int(np.isfinite(mark.get_xydata()[:, 1]).sum()) for mark in marks) == (
        measured_record.stand_ins
    )


# --- A simplification -----------------------------------------------------------------

LONG_NAME = "seasonal/T_E/T_E^2/(1 + (T_E/0.35)^2) of a model with $long_names$"


def path_of(steps: int, dropped: str = "linear/T_E", errors: bool = True) -> list[PathPoint]:
    """The original and removals from it, of which every third is rejected."""
    rng = np.random.default_rng(steps)
    points = [PathPoint("", 49, (0.7, 0.6, 0.3, 0.5), (0.01, 0.02, 0.03, 0.04), 0.8, True)]
    for step in range(1, steps):
        scores = tuple(np.array(points[0].scores) + 0.02 * rng.standard_normal(4))
        point = PathPoint(dropped, 49 - step, scores, points[0].errors, rng.normal(), step % 3 > 0)
        points.append(point)
    return points if errors else [dataclasses.replace(point, errors=None) for point in points]


@pytest.fixture(scope="module")
def reduced(evidence: xr.Dataset) -> xr.Dataset:
    """Nothing but what the figure needs, and another distribution than the original's."""
    few = evidence[["pdf_T_E", "observed_pdf_T_E"]]
    return few.assign(pdf_T_E=few["pdf_T_E"].copy(data=0.9 * few["pdf_T_E"].values))


@pytest.fixture(scope="module")
def simplified(evidence: xr.Dataset, reduced: xr.Dataset) -> dict[str, Axes]:
    return panels(simplification(evidence, reduced, path_of(8)))


def test_every_axis_of_a_simplification_has_a_label_with_units(simplified: dict[str, Axes]) -> None:
    assert sorted(simplified) == list("abcdef")
    for ax in simplified.values():
        assert_labelled(ax)


def test_distributions_are_those_of_the_record_and_both_models(
    simplified: dict[str, Axes], evidence: xr.Dataset, reduced: xr.Dataset
) -> None:
    ax = simplified["a"]
    assert np.array_equal(drawn(ax, RECORD), evidence["observed_pdf_T_E"])
    for name, dataset in ((ORIGINAL, evidence), (REDUCED, reduced)):
        assert np.array_equal(drawn(ax, name), dataset["pdf_T_E"].mean(("replicate", "segment")))
    for band, dataset in zip(ax.collections, (evidence, reduced), strict=True):
        vertices = band.get_paths()[0].vertices
        middle = vertices[vertices[:, 0] == 0.0, 1]
        deviation = dataset["pdf_T_E"].sel(anomaly=0.0).values.std()
        assert np.ptp(middle) == pytest.approx(2.0 * deviation)


@pytest.mark.parametrize(("letter", "place"), [("b", 0), ("c", 1), ("d", 2), ("e", 3), ("f", None)])
def test_a_path_is_solid_where_it_was_kept_and_hollow_where_rejected(
    simplified: dict[str, Axes], letter: str, place: int | None
) -> None:
    ax, path = simplified[letter], path_of(8)
    values = [point.skewness if place is None else point.scores[place] for point in path]
    kept, rejected = [1, 2, 4, 5, 7], [3, 6]
    for name, steps in ((KEPT, kept), (REJECTED, rejected)):
        assert np.array_equal(line(ax, name).get_xdata(), steps)
        assert np.array_equal(drawn(ax, name), [values[step] for step in steps])
    assert line(ax, REJECTED).get_markerfacecolor() == "white"
    assert line(ax, KEPT).get_markerfacecolor() == line(ax, REJECTED).get_color()
    (through,) = (one for one in ax.lines if np.array_equal(one.get_xdata(), [0, *kept]))
    assert np.array_equal(through.get_ydata(), [values[step] for step in (0, *kept)])
    assert through.get_linestyle() == "-"


def test_error_bars_are_one_standard_error_to_each_side(simplified: dict[str, Axes]) -> None:
    for letter, error in zip("bcde", (0.01, 0.02, 0.03, 0.04), strict=True):
        (bars,) = zip(*(bar.get_segments() for bar in simplified[letter].collections), strict=True)
        assert [bar[0, 0] for bar in bars] == list(range(8))
        assert [np.ptp(bar[:, 1]) for bar in bars] == pytest.approx([2.0 * error] * 8)
    assert not simplified["f"].collections


def test_without_errors_or_rejections_there_is_nothing_of_them(
    evidence: xr.Dataset, reduced: xr.Dataset
) -> None:
    figure = simplification(evidence, reduced, path_of(3, errors=False))
    assert not panels(figure)["b"].collections
    assert REJECTED not in [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_path_may_be_the_original_alone(evidence: xr.Dataset) -> None:
    figure = simplification(evidence, evidence, path_of(1))
    assert tick_labels(panels(figure)["f"]) == ["original (49)"]
    assert "from 49 to 49 drift coefficients" in headings(figure)


def test_the_reduced_model_has_a_ring_where_the_path_goes_on_beyond_it(
    evidence: xr.Dataset, reduced: xr.Dataset
) -> None:
    path = path_of(8)
    path[4] = dataclasses.replace(path[4], chosen=True)
    figure = simplification(evidence, reduced, path)
    assert "from 49 to 45 drift coefficients" in headings(figure)
    ring = line(panels(figure)["e"], CHOSEN)
    assert (ring.get_xdata(), ring.get_ydata()) == ([4], [path[4].scores[3]])
    assert CHOSEN in [text.get_text() for text in figure.legends[0].get_texts()]


def tick_labels(ax: Axes) -> list[str]:
    return [tick.get_text() for tick in ax.get_xticklabels()]


def test_removals_are_named_with_the_coefficients_that_they_left(
    simplified: dict[str, Axes],
) -> None:
    names = tick_labels(simplified["f"])
    assert names == ["original (49)", *(f"linear/T_E ({left})" for left in range(48, 41, -1))]


def test_a_simplification_says_from_where_to_where_and_warns(
    evidence: xr.Dataset, reduced: xr.Dataset
) -> None:
    # The eighth step was kept, the sixth and the ninth were not.
    words = headings(simplification(evidence, reduced, path_of(10)))
    assert "fable-5.1, reduced" in words
    assert "from 49 to 41 drift coefficients, against nature-run" in words
    assert WARNING in words
    measured = evidence.assign_attrs(observations_kind="measured")
    assert WARNING not in headings(simplification(measured, reduced, path_of(2)))


@pytest.mark.parametrize("dropped", ["u", LONG_NAME, "nonlinear_" * 20, " \n"])
@pytest.mark.parametrize("steps", [2, 14, 40])
def test_no_label_of_a_simplification_covers_another(
    evidence: xr.Dataset, reduced: xr.Dataset, steps: int, dropped: str
) -> None:
    figure = simplification(evidence, reduced, path_of(steps, dropped))
    figure.draw_without_rendering()
    by_letter = panels(figure)
    assert_fits(figure, by_letter["a"])
    lowest = by_letter["f"]
    assert_turned_labels_are_apart(lowest)
    upright = [text for ax in figure.axes for text in (ax.xaxis.label, ax.yaxis.label)]
    upright += [by_letter[letter].yaxis.label for letter in "bcdef"]
    boxes = {text: text.get_window_extent() for text in upright if text.get_text()}
    boxes |= {ax: ax.get_window_extent() for ax in figure.axes}
    boxes |= {figure.legends[0]: figure.legends[0].get_window_extent()}
    for one, box in boxes.items():
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1, one
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1, one
        assert not [other for other in boxes if other is not one and box.overlaps(boxes[other])]
    ticks = [tick.get_window_extent() for tick in lowest.get_xticklabels()]
    assert not any(tick.overlaps(lowest.xaxis.label.get_window_extent()) for tick in ticks)
    assert min(tick.x0 for tick in ticks) > by_letter["a"].get_window_extent().x1
    assert all(ax.get_window_extent().height > 0.07 * figure.bbox.height for ax in figure.axes)


def assert_turned_labels_are_apart(ax: Axes) -> None:
    """Of parallel lines of text, the distance between two is more than the height of one."""
    ticks = ax.get_xticklabels()
    places = ax.transData.transform([(place, 0.0) for place in ax.get_xticks()])[:, 0]
    for text in ticks:
        text.set_rotation(0.0)
    heights = [text.get_window_extent().height for text in ticks]
    for text in ticks:
        text.set_rotation(45.0)
    assert max(heights) < np.diff(places).min() * np.sin(np.pi / 4)


# --- On disk --------------------------------------------------------------------------


@pytest.fixture
def figure() -> Figure:
    figure = Figure(figsize=(2.0, 1.0))
    figure.add_subplot().plot([0.0, 1.0], [1.0, 0.0])
    return figure


def test_png_is_a_picture_of_150_dots_per_inch(figure: Figure, tmp_path: Path) -> None:
    save(figure, tmp_path / "a.png")
    assert imread(tmp_path / "a.png").shape[:2] == (150, 300)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_pdf_and_svg_are_what_they_say(figure: Figure, tmp_path: Path) -> None:
    save(figure, tmp_path / "a.pdf")
    save(figure, str(tmp_path / "a.SVG"))
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF-")
    assert ET.parse(tmp_path / "a.SVG").getroot().tag.endswith("svg")


@pytest.mark.parametrize("form", ["png", "pdf", "svg"])
def test_the_same_figure_is_the_same_file(figure: Figure, tmp_path: Path, form: str) -> None:
    for name in "ab":
        save(figure, tmp_path / f"{name}.{form}")
    assert (tmp_path / f"a.{form}").read_bytes() == (tmp_path / f"b.{form}").read_bytes()


def test_a_figure_that_fails_leaves_the_old_file(
    figure: Figure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"the old one")

    def fail(path, **options):
        path.write_bytes(b"half of")
        raise RuntimeError("no more ink")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(RuntimeError, match="ink"):
        save(figure, path)
    assert path.read_bytes() == b"the old one"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_form_is_refused(figure: Figure, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"a\.jpg does not end in \.png, \.pdf or \.svg"):
        save(figure, tmp_path / "a.jpg")


def test_the_callers_settings_stay_as_they_are(figure: Figure, tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    record_figure(nature_run())
    save(figure, tmp_path / "a.png")
    assert dict(matplotlib.rcParams) == before


def test_importing_the_figures_leaves_pyplot_alone() -> None:
    program = "import sys, enso_jax.figures; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
