"""Is a record read as it was written, and is every unsound one refused in a useful sentence?"""

import copy
import dataclasses
import hashlib
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import skew

from enso_jax.observations import (
    ObservationError,
    Record,
    Series,
    SstProfile,
    read_record,
    write_record,
)
from enso_jax.protocol import EVENT_TYPES
from enso_jax.state import NAMES, T_C, T_E, TAU, U, month_index, parse_month

# --- A small record made of noise ----------------------------------------------------


def months(first_year: int, years: int) -> list[str]:
    return [f"{first_year + y}-{m:02d}" for y in range(years) for m in range(1, 13)]


def csv_text(header: str, rows: list[list[object]]) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows), ""])


def long_csv(rng: np.random.Generator) -> str:
    rows = [[label, *rng.normal(size=2)] for label in months(1950, 2)]
    return csv_text("month,T_C,T_E", rows)


def five_csv(rng: np.random.Generator, first_year: int, years: int) -> str:
    """Five variables; u is a stand-in in the first month and missing in the second."""
    rows = [
        [label, *rng.normal(size=5), "measured", "measured", "measured"]
        for label in months(first_year, years)
    ]
    rows[0][7] = "stand-in"
    rows[1][4], rows[1][7] = "", "missing"
    return csv_text("month,T_C,T_E,h_W,u,tau,h_W_source,u_source,tau_source", rows)


def profile_csv(rng: np.random.Generator) -> str:
    rows = [[longitude, *rng.normal(size=3)] for longitude in np.arange(140.5, 280)]
    return csv_text("longitude,constant,T_E,T_C", rows)


def sign(folder: Path, **changes: object) -> None:
    """Writes the manifest of what lies in `folder`."""
    files = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name != "manifest.json"
    }
    manifest = {"name": "noise", "kind": "simulated", "description": "White noise", "files": files}
    (folder / "manifest.json").write_text(json.dumps(manifest | changes))


@pytest.fixture
def record_folder(tmp_path: Path) -> Path:
    """A valid record: 24, 24 and 12 months of white noise, written by hand."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "record"
    folder.mkdir()
    (folder / "long_record.csv").write_text(long_csv(rng))
    (folder / "development.csv").write_text(five_csv(rng, 1980, 2))
    (folder / "held_out.csv").write_text(five_csv(rng, 1990, 1))
    (folder / "sst_profile.csv").write_text(profile_csv(rng))
    counts = {event: number for number, event in enumerate(EVENT_TYPES)}
    (folder / "event_counts.json").write_text(json.dumps({"period_years": 2, "counts": counts}))
    sign(folder)
    return folder


@pytest.fixture
def record(record_folder: Path) -> Record:
    return read_record(record_folder)


def assert_same(one: Record, other: Record) -> None:
    """Field by field, floats by their bits."""
    for name in ("name", "kind", "description", "digest"):
        assert getattr(one, name) == getattr(other, name)
    assert list(one.event_counts.items()) == list(other.event_counts.items())
    for name in ("long", "development", "held_out"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a.first_month, a.names) == (b.first_month, b.names)
        assert a.values.tobytes() == b.values.tobytes()
        assert a.measured.tobytes() == b.measured.tobytes()
    for name in ("longitude", "constant", "east", "central"):
        assert getattr(one.profile, name).tobytes() == getattr(other.profile, name).tobytes()
    assert (one.peaks is None) == (other.peaks is None)
    if one.peaks is not None and other.peaks is not None:
        assert one.peaks.tobytes() == other.peaks.tobytes()


# --- Reading -------------------------------------------------------------------------


def test_reads_what_the_files_say(record: Record, record_folder: Path) -> None:
    assert (record.name, record.kind, record.simulated) == ("noise", "simulated", True)
    assert (record.long.months, record.development.months, record.held_out.months) == (24, 24, 12)
    assert record.long.names == ("T_C", "T_E")
    assert record.development.names == NAMES
    assert record.held_out.labels[0] == "1990-01"
    line = (record_folder / "long_record.csv").read_text().splitlines()[3]
    assert line == "1950-03," + ",".join(map(repr, record.long.values[2].tolist()))
    assert tuple(record.event_counts.items()) == tuple(zip(EVENT_TYPES, range(7), strict=True))
    assert record.peaks is None


def test_knows_stand_ins_from_measured_and_missing(record: Record) -> None:
    series = record.development
    assert np.isfinite(series.values[0, U])
    assert not series.measured[0, U]
    assert np.isnan(series.values[1, U])
    assert not series.measured[1, U]
    assert series.measured[2:].all()
    assert series.stand_ins == 1
    assert record.stand_ins == 2


def test_measured_only_drops_stand_ins_and_nothing_else(record: Record) -> None:
    measured = record.measured_only()
    before, after = record.development.values, measured.development.values
    assert np.isnan(after[:2, U]).all()
    assert np.array_equal(np.delete(after, U, 1), np.delete(before, U, 1))
    assert measured.stand_ins == 0
    assert measured.digest != record.digest
    assert measured.measured_only() is measured


def test_missing_sst_is_allowed_outside_the_long_record(record_folder: Path) -> None:
    edit(record_folder, "held_out.csv", set_cell(3, 1, ""))
    series = read_record(record_folder).held_out
    assert np.isnan(series.values[2, T_C])
    assert not series.measured[2, T_C]


def test_reads_peaks_with_and_without_the_winter(record_folder: Path) -> None:
    peaks = record_folder / "observed_peaks.csv"
    for text in ("strength,longitude\n2.5,250\n", "winter,strength,longitude\n1997-98,2.5,250\n"):
        peaks.write_text(text)
        sign(record_folder)
        found = read_record(record_folder).peaks
        assert found is not None
        assert found.tolist() == [[2.5, 250.0]]


def test_digest_follows_data_and_kind_but_not_the_name(record_folder: Path) -> None:
    def digest(**changes: object) -> str:
        sign(record_folder, **changes)
        return read_record(record_folder).digest

    original = digest()
    assert digest(name="other", description="other") == original
    assert digest(kind="measured") != original
    edit(record_folder, "held_out.csv", set_cell(3, 1, "0.25"))
    assert digest() != original


# --- In memory -----------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [lambda r: r, copy.deepcopy, lambda r: again(r)])
def test_is_immutable_also_when_copied_or_sent_to_a_worker(
    record_folder: Path, duplicate: Callable[[Record], Record]
) -> None:
    (record_folder / "observed_peaks.csv").write_text("strength,longitude\n2.5,250\n")
    sign(record_folder)
    record = read_record(record_folder)
    twin = duplicate(record)
    assert_same(twin, record)
    arrays = (twin.long.values, twin.held_out.measured, twin.profile.east, twin.peaks)
    assert not any(array.flags.writeable for array in arrays if array is not None)
    with pytest.raises(TypeError):
        twin.event_counts["EN"] = 1  # pyright: ignore[reportIndexIssue]
    with pytest.raises(dataclasses.FrozenInstanceError):
        twin.name = "other"  # pyright: ignore[reportAttributeAccessIssue]


def again(record: Record) -> Record:
    return pickle.loads(pickle.dumps(record))


def test_leaves_the_callers_array_alone() -> None:
    values = np.zeros((12, 2))
    series = Series(month_index(1950, 1), ("T_C", "T_E"), values, np.ones((12, 2), dtype=bool))
    values[0, 0] = 1.0
    assert series.values[0, 0] == 0.0


@pytest.mark.parametrize(
    ("first_month", "values", "measured"),
    [
        (month_index(1950, 2), np.zeros((12, 2)), np.ones((12, 2))),
        (month_index(1950, 1), np.zeros((12, 3)), np.ones((12, 3))),
        (month_index(1950, 1), np.zeros((12, 2)), np.ones((12, 1))),
        (month_index(1950, 1), np.full((12, 2), np.nan), np.ones((12, 2))),
    ],
)
def test_a_series_that_contradicts_itself_cannot_be_made(
    first_month: int, values: np.ndarray, measured: np.ndarray
) -> None:
    with pytest.raises(ValueError, match=r"January|columns|not as values|cannot be measured"):
        Series(first_month, ("T_C", "T_E"), values, measured)


def test_profile_is_linear_and_broadcasts() -> None:
    profile = SstProfile(*(np.array(x) for x in ([200.0, 240.0], [0.1, 0.2], [0, 1], [1, 0])))
    assert np.array_equal(profile(2.0, 3.0), [2.1, 3.2])
    assert profile(np.zeros((4, 1)), np.zeros(3)).shape == (4, 3, 2)
    assert np.isnan(profile(np.nan, 3.0)).all()


# --- Writing -------------------------------------------------------------------------


def test_reading_back_what_was_written_is_the_identity(record: Record, tmp_path: Path) -> None:
    awkward = np.array([[0.1 + 0.2, 250.0], [-5e-324, 1 / 3], [1e300, 359.0], [-0.0, 0.0]])
    record = dataclasses.replace(record, peaks=awkward)
    write_record(record, tmp_path / "deep" / "copy")
    again = read_record(tmp_path / "deep" / "copy")
    # A digest follows from files, and a record made in memory has none.
    assert_same(again, dataclasses.replace(record, digest=again.digest))


def test_writing_twice_gives_the_same_bytes(record: Record, tmp_path: Path) -> None:
    write_record(record, tmp_path / "one")
    write_record(read_record(tmp_path / "one"), tmp_path / "two")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_measured_only_record_can_be_written(record: Record, tmp_path: Path) -> None:
    measured = record.measured_only()
    write_record(measured, tmp_path / "copy")
    twin = read_record(tmp_path / "copy")
    assert_same(dataclasses.replace(twin, digest=measured.digest), measured)


def test_fills_an_empty_folder_but_overwrites_nothing(record: Record, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    write_record(record, folder)
    with pytest.raises(ObservationError, match="new is not empty; remove it"):
        write_record(record, folder)
    with pytest.raises(ObservationError, match="is a file; choose a folder"):
        write_record(record, folder / "manifest.json")
    assert_same(read_record(folder), dataclasses.replace(record, digest=read_record(folder).digest))


def test_an_interrupted_write_leaves_nothing(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    def full_disk(_: int) -> None:
        written.append("file")
        if len(written) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ObservationError, match=r"new cannot be written \(No space left"):
        write_record(record, tmp_path / "new")
    assert sorted(tmp_path.iterdir()) == before


def test_writes_nothing_that_could_not_be_read(record: Record, tmp_path: Path) -> None:
    infinite = record.development.values.copy()
    infinite[4, TAU] = np.inf
    series = dataclasses.replace(record.development, values=infinite)
    with pytest.raises(ObservationError, match=r"development\.csv, line 6, column tau: 'inf'"):
        write_record(dataclasses.replace(record, development=series), tmp_path / "new")
    unsourced = dataclasses.replace(record.long, measured=np.zeros((24, 2)))
    with pytest.raises(ObservationError, match="T_C has a stand-in"):
        write_record(dataclasses.replace(record, long=unsourced), tmp_path / "new")
    assert not (tmp_path / "new").exists()


# --- What is refused -----------------------------------------------------------------

Edit = Callable[[str], str]


def set_cell(line: int, column: int, text: str) -> Edit:
    """Replaces one cell; `line` counts from 0 at the header, `column` from 0."""

    def edited(content: str) -> str:
        lines = content.split("\n")
        cells = lines[line].split(",")
        cells[column] = text
        lines[line] = ",".join(cells)
        return "\n".join(lines)

    return edited


def drop_lines(start: int, stop: int | None) -> Edit:
    def edited(content: str) -> str:
        lines = content.split("\n")
        del lines[start:stop]
        return "\n".join(lines)

    return edited


def swap(old: str, new: str) -> Edit:
    return lambda content: content.replace(old, new, 1)


def edit(folder: Path, name: str, change: Edit) -> None:
    """Changes a file and signs the folder, so that only its content is at fault."""
    path = folder / name
    original = path.read_text()
    assert change(original) != original
    path.write_text(change(original))
    sign(folder)


def refusal(folder: Path) -> str:
    """The sentence with which `folder` is refused."""
    with pytest.raises(ObservationError) as caught:
        read_record(folder)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert ".." not in sentence
    assert ";" in sentence  # what is wrong; what to do
    return sentence


CSV_FAULTS = {
    "missing column": ("long_record.csv", swap("T_E", "T_C2"), "line 1, column 'T_C2'"),
    "no T_E": ("long_record.csv", lambda _: "month,T_C\n1950-01,1\n", "line 1, column T_E"),
    "no source": (
        "development.csv",
        swap("u_source", "tau_source"),
        "line 1, column tau_source: the column stands here twice",
    ),
    "text": ("development.csv", set_cell(16, 3, "warm"), "line 17, column h_W: 'warm' is not a"),
    "nan": ("development.csv", set_cell(16, 3, "nan"), "line 17, column h_W: 'nan' is not a"),
    "inf": ("held_out.csv", set_cell(2, 5, "-inf"), "line 3, column tau: '-inf' is not a finite"),
    "overflow": ("held_out.csv", set_cell(2, 5, "1e999"), "line 3, column tau: '1e999' is not a"),
    "separators": ("held_out.csv", set_cell(2, 5, "1_0"), "line 3, column tau: '1_0' is not a"),
    "gap": ("long_record.csv", drop_lines(4, 5), "line 5, column month: 1950-05 stands where 1950"),
    "repeat": ("long_record.csv", set_cell(4, 0, "1950-03"), "line 5, column month: 1950-03"),
    "disorder": ("held_out.csv", set_cell(4, 0, "1989-03"), "line 5, column month: 1989-03"),
    "no month": ("held_out.csv", set_cell(4, 0, "1990-13"), "line 5, column month: '1990-13'"),
    "not a January": ("held_out.csv", drop_lines(1, 2), "line 2, column month: the series begins"),
    "part of a year": ("development.csv", drop_lines(24, 25), "line 24, column month: the series"),
    "no rows": ("long_record.csv", drop_lines(1, None), "no rows of data"),
    "no bytes": ("long_record.csv", lambda _: "", "no rows of data"),
    "ragged": ("sst_profile.csv", swap("\n141.5,", "\n141.5,0,"), "line 3: the row has 5 cells"),
    "blank line": (
        "sst_profile.csv",
        swap("\n141.5,", "\n\n141.5,"),
        "line 3: the row has 0 cells",
    ),
    "open quote": ("held_out.csv", set_cell(3, 3, '"1'), "not CSV"),
    "gap in statistics": ("long_record.csv", set_cell(2, 2, ""), "line 3, column T_E: the cell is"),
    "unknown source": (
        "held_out.csv",
        set_cell(3, 6, "guess"),
        "line 4, column h_W_source: unknown source 'guess'",
    ),
    "missing, yet there": (
        "held_out.csv",
        set_cell(3, 6, "missing"),
        "line 4, column h_W_source: says missing, but h_W has a value",
    ),
    "there, yet missing": (
        "held_out.csv",
        set_cell(3, 3, ""),
        "line 4, column h_W_source: says measured, but the cell of h_W is empty",
    ),
    "seen before": (
        "held_out.csv",
        lambda content: content.replace("1990-", "1981-"),
        "begins in 1981-01, which development.csv (to 1981-12) reaches",
    ),
    "longitudes disordered": (
        "sst_profile.csv",
        set_cell(5, 0, "141.5"),
        "line 6, column longitude: longitudes must increase",
    ),
    "longitude missing": ("sst_profile.csv", set_cell(5, 0, ""), "line 6, column longitude"),
    "west not covered": ("sst_profile.csv", drop_lines(1, 3), "covers 142.5 to 279.5"),
    "east not covered": ("sst_profile.csv", drop_lines(138, None), "covers 140.5 to 276.5"),
    "one longitude": ("sst_profile.csv", drop_lines(2, None), "covers 140.5 to 140.5"),
}


@pytest.mark.parametrize(("name", "change", "told"), CSV_FAULTS.values(), ids=CSV_FAULTS)
def test_refuses_an_unsound_table(record_folder: Path, name: str, change: Edit, told: str) -> None:
    edit(record_folder, name, change)
    sentence = refusal(record_folder)
    assert f"{record_folder / name}" in sentence
    assert told in sentence


COUNT_FAULTS = {
    "no LN": (swap('"LN"', '"LA"'), "no key 'LN'"),
    "negative": (swap('"EP": 1', '"EP": -1'), "the count of EP is -1"),
    "fraction": (swap('"EP": 1', '"EP": 1.0'), "the count of EP is 1.0"),
    "truth": (swap('"EP": 1', '"EP": true'), "the count of EP is True"),
    "no counts": (swap('"counts"', '"Counts"'), "no key 'counts'"),
    "a list": (lambda _: "[]", "the file is not a JSON object"),
    "counts a number": (lambda _: '{"counts": 3}', "'counts' is not a JSON object"),
    "not JSON": (lambda content: content[:-1], "not JSON"),
    "other years": (swap('"period_years": 2', '"period_years": 70'), "has 2 years"),
}


@pytest.mark.parametrize(("change", "told"), COUNT_FAULTS.values(), ids=COUNT_FAULTS)
def test_refuses_unsound_event_counts(record_folder: Path, change: Edit, told: str) -> None:
    edit(record_folder, "event_counts.json", change)
    sentence = refusal(record_folder)
    assert "event_counts.json" in sentence
    assert told in sentence


MANIFEST_FAULTS = {
    "not JSON": (lambda _: "name: noise", "not JSON"),
    "a list": (lambda _: "[]", "the file is not a JSON object"),
    "no name": (swap('"name"', '"title"'), "no key 'name'"),
    "no files": (swap('"files"', '"file"'), "no key 'files'"),
    "files a list": (lambda text: json.dumps(json.loads(text) | {"files": []}), "'files' is not"),
    "name a number": (swap('"noise"', "3"), "'name' is not text but 3"),
    "other kind": (swap('"simulated"', '"guessed"'), "'kind' is 'guessed'; it must be measured or"),
    "not listed": (swap('"held_out.csv"', '"heldout.csv"'), "does not list held_out.csv"),
    "stranger": (swap('"files": {', '"files": {"a/x": "0", '), "lists 'a/x', which is no file"),
    "absent": (
        swap('"files": {', '"files": {"observed_peaks.csv": "0", '),
        "lists observed_peaks.csv, which is not in the folder",
    ),
    "no checksum": (
        swap('"files": {', '"files": {"held_out": 0, '),
        "the checksum of 'held_out' is",
    ),
}


@pytest.mark.parametrize(("change", "told"), MANIFEST_FAULTS.values(), ids=MANIFEST_FAULTS)
def test_refuses_an_unsound_manifest(record_folder: Path, change: Edit, told: str) -> None:
    path = record_folder / "manifest.json"
    path.write_text(change(path.read_text()))
    sentence = refusal(record_folder)
    assert "manifest.json" in sentence
    assert told in sentence


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("strength,longitude\n2.5,\n", "line 2, column longitude: the cell is empty"),
        ("strength,longitude\n2.5,-110\n", "line 2, column longitude: not a longitude"),
        ("strength,place\n2.5,250\n", "column 'place': unknown column"),
    ],
)
def test_refuses_unsound_peaks(record_folder: Path, text: str, told: str) -> None:
    (record_folder / "observed_peaks.csv").write_text(text)
    sign(record_folder)
    sentence = refusal(record_folder)
    assert "observed_peaks.csv" in sentence
    assert told in sentence


def test_refuses_a_folder_that_is_none(tmp_path: Path) -> None:
    assert "nowhere does not exist" in refusal(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    assert "file is not a folder" in refusal(tmp_path / "file")
    (tmp_path / "hollow").mkdir()
    assert "hollow is empty" in refusal(tmp_path / "hollow")


def test_refuses_a_folder_without_a_manifest(record_folder: Path) -> None:
    (record_folder / "manifest.json").unlink()
    assert "record has no manifest.json" in refusal(record_folder)


def test_refuses_a_folder_that_lacks_a_listed_file(record_folder: Path) -> None:
    (record_folder / "held_out.csv").unlink()
    assert "lists held_out.csv, which is not in the folder" in refusal(record_folder)


def test_refuses_a_file_that_nobody_vouches_for(record_folder: Path) -> None:
    (record_folder / "observed_peaks.csv").write_text("strength,longitude\n2.5,250\n")
    sentence = refusal(record_folder)
    assert "observed_peaks.csv: manifest.json does not list this file" in sentence


def test_refuses_a_file_that_cannot_be_read(record_folder: Path) -> None:
    (record_folder / "held_out.csv").unlink()
    (record_folder / "held_out.csv").mkdir()
    assert "held_out.csv cannot be read" in refusal(record_folder)


def test_a_changed_file_is_told_before_what_is_wrong_in_it(record_folder: Path) -> None:
    path = record_folder / "development.csv"
    path.write_text(path.read_text() + "rubbish")
    sentence = refusal(record_folder)
    assert "development.csv: the file has changed since the record was made" in sentence
    assert "build the record again or restore it" in sentence


def test_refuses_bytes_that_are_not_utf8(record_folder: Path) -> None:
    path = record_folder / "held_out.csv"
    path.write_bytes(path.read_bytes().replace(b"\n1990-02", b"\n\xff1990-02"))
    sign(record_folder)
    assert "held_out.csv, line 3: not UTF-8 text" in refusal(record_folder)


# --- The measured record -------------------------------------------------------------


def test_measured_record_has_its_periods(measured_record: Record) -> None:
    assert not measured_record.simulated
    lengths = [
        series.months
        for series in (measured_record.long, measured_record.development, measured_record.held_out)
    ]
    assert lengths == [840, 420, 120]
    assert measured_record.development.stand_ins == 24
    assert measured_record.profile.longitude.shape == (161,)


def test_measured_record_has_the_published_moments(measured_record: Record) -> None:
    values = measured_record.long.values
    december = values[parse_month("1997-12") - measured_record.long.first_month]
    assert december[T_E] == pytest.approx(3.24, abs=0.005)
    assert values.var(axis=0) == pytest.approx([0.393, 0.745], abs=0.0005)
    assert skew(values) == pytest.approx([-0.32, 0.83], abs=0.005)


@pytest.mark.parametrize(
    ("west", "east", "expected"),
    [(210, 270, (0, 1, 0)), (160, 210, (0, 0, 1))],
    ids=["Nino 3 is T_E", "Nino 4 is T_C"],
)
def test_measured_profile_averages_to_its_indices(
    measured_record: Record, west: float, east: float, expected: tuple[float, ...]
) -> None:
    profile = measured_record.profile
    box = (profile.longitude > west) & (profile.longitude < east)
    means = [part[box].mean() for part in (profile.constant, profile.east, profile.central)]
    assert means == pytest.approx(expected, abs=1e-5)
    T_C_value, T_E_value = -0.7, 1.3
    sst = profile(T_C_value, T_E_value)[box].mean()
    assert sst == pytest.approx(np.dot(expected, [1, T_E_value, T_C_value]), abs=1e-5)


def test_measured_only_ends_the_fully_held_out_months_in_2018(measured_record: Record) -> None:
    series = measured_record.measured_only().held_out
    complete = np.flatnonzero(np.isfinite(series.values).all(axis=1))
    assert np.array_equal(complete, np.arange(complete.size))
    assert series.labels[complete[-1]] == "2018-12"


def test_measured_record_survives_a_round_trip(measured_record: Record, tmp_path: Path) -> None:
    write_record(measured_record, tmp_path / "copy")
    twin = read_record(tmp_path / "copy")
    assert_same(dataclasses.replace(twin, digest=measured_record.digest), measured_record)
