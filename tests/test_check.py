"""Does the data check pass what is right, fail each known mistake, and name it?"""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from raw_layouts import RawLayout, write_layout
from ten_years import PERIODS, RECIPE, ten_years

from enso_jax.observations import ObservationError, Record, nature_run
from enso_jax.observations.check import (
    TOLERANCES,
    Candidate,
    check_indices,
    explain,
    read_candidate,
)
from enso_jax.observations.fields import RawFields, find_fields
from enso_jax.observations.indices import FIELD_OF, Recipe, build, uniform_weights
from enso_jax.observations.synthetic import synthetic_fields
from enso_jax.state import NAMES, month_index, month_label

FIRST = month_index(1980, 1)


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> RawFields:
    """Plain fields of ten years, unpacked."""
    folder = tmp_path_factory.mktemp("plain")
    for field in synthetic_fields(ten_years()):
        write_layout(field, folder, RawLayout(fill=("missing_value",), yearly=field.name != "sst"))
    return find_fields(folder)


@pytest.fixture(scope="module")
def record(raw: RawFields) -> Record:
    return build(raw.folder, PERIODS, RECIPE).record


def candidate_of(record: Record, changes: dict[str, np.ndarray] | None = None) -> Candidate:
    """The record's own development, some indices of it replaced."""
    values = record.development.values.copy()
    for name, column in (changes or {}).items():
        values[:, NAMES.index(name)] = column
    return Candidate(record.development.first_month + np.arange(len(values)), values)


def written(path: Path, candidate: Candidate, digits: int = 17) -> Path:
    lines = ["month," + ",".join(NAMES)]
    for month, row in zip(candidate.months, candidate.values, strict=True):
        cells = ["" if np.isnan(value) else f"{value:.{digits}g}" for value in row]
        lines.append(",".join([month_label(int(month)), *cells]))
    path.write_text("\n".join(lines) + "\n")
    return path


# --- What is right passes -----------------------------------------------------------------


def test_the_record_itself_passes(record: Record) -> None:
    result = check_indices(candidate_of(record), record.development)
    assert result.passed
    assert result.feedback() == "pass"


def test_six_written_digits_pass(record: Record, tmp_path: Path) -> None:
    candidate = read_candidate(written(tmp_path / "a.csv", candidate_of(record), digits=6))
    assert check_indices(candidate, record.development).passed


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_indices_made_with_xarray_and_none_of_our_code_pass(
    raw: RawFields, record: Record, tmp_path: Path, dtype: str
) -> None:
    columns = {name: by_xarray(raw.folder, name, dtype) for name in NAMES}
    data = xr.Dataset(columns).sel(time=slice("1980", "1985"))
    data.to_netcdf(tmp_path / "mine.nc", engine="netcdf4")
    result = check_indices(read_candidate(tmp_path / "mine.nc"), record.development)
    assert result.passed, result


def by_xarray(folder: Path, name: str, dtype: str) -> xr.DataArray:
    """An index as anybody would make it."""
    variable = FIELD_OF[name]
    files = sorted(folder.glob(f"{variable}.*.nc"))
    parts = [
        xr.open_dataset(file, engine="netcdf4", decode_timedelta=False).load() for file in files
    ]
    field = xr.concat([part[variable] for part in parts], "time").astype(dtype)
    west, east = {"T_C": (160, 210), "T_E": (210, 270), "u": (160, 210)}.get(name, (120, 180))
    box = field.sel(lat=slice(-5, 5), lon=slice(west, east))
    match name:
        case "h_W":
            warm = box >= 20
            above = (warm & ~warm.shift(level=-1, fill_value=True)).argmax("level")
            upper, lower = box.isel(level=above), box.isel(level=above + 1)
            top, bottom = box.level[above], box.level[above + 1]
            box = top + (upper - 20) / (upper - lower) * (bottom - top)
        case "u":
            box = box.sel(level=slice(0, 55)).mean("level")
        case "tau":
            box = box.isel(level=0)
    index = box.weighted(np.cos(np.deg2rad(box.lat)).astype(dtype)).mean(("lat", "lon"))
    if name == "tau":
        index = index.resample(time="MS").mean()
    first = int(index.time.dt.year[0])
    numbers = index.values.reshape(-1, 12)
    climatology = numbers[1981 - first : 1987 - first].mean(axis=0)
    return index.copy(data=(numbers - climatology).ravel()).drop_vars("level", errors="ignore")


def test_the_nature_run_is_checked_as_the_measured_record_is() -> None:
    record = nature_run()
    assert check_indices(candidate_of(record), record.development).passed


def test_the_measured_record_passes_and_its_stand_ins_are_not_asked_for(
    measured_record: Record,
) -> None:
    values = measured_record.development.values.copy()
    values[measured_record.development.is_stand_in] = np.nan
    candidate = Candidate(FIRST + np.arange(420), values)
    result = check_indices(candidate, measured_record.development)
    assert result.passed
    assert [index.compared for index in result.indices] == [420, 420, 420, 420, 396]


# --- What differs fails, and where --------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_little_more_than_the_tolerance_fails_and_is_placed(record: Record, name: str) -> None:
    column = record.development.values[:, NAMES.index(name)].copy()
    column[17] += 0.99 * TOLERANCES[name]
    assert check_indices(candidate_of(record, {name: column}), record.development).passed
    column[17] += 0.02 * TOLERANCES[name]
    result = check_indices(candidate_of(record, {name: column}), record.development)
    assert result.differing == [name]
    assert result.feedback() == (
        f"fail: {name} differ from the reference; {name} differs most in 1981-06"
    )


def test_a_missing_month_fails(record: Record) -> None:
    candidate = candidate_of(record)
    short = Candidate(candidate.months[:-3], candidate.values[:-3])
    result = check_indices(short, record.development)
    assert result.differing == list(NAMES)
    assert "is missing in 1985-10" in result.feedback()
    assert {index.missing for index in result.indices} == {3}


FAULTS = {
    "no column": ("month,T_C,T_E,h_W,u\n1980-01,1,1,1,1\n", "has no column tau"),
    "no month": ("T_C,T_E,h_W,u,tau\n1,1,1,1,1\n", "has no column month"),
    "no rows": ("month,T_C,T_E,h_W,u,tau\n", "has no rows"),
    "nothing": ("", "has no column month"),
    "a word": ("month,T_C,T_E,h_W,u,tau\n1980-01,1,warm,1,1,1\n", "line 2, column T_E: 'warm'"),
    "a date": ("month,T_C,T_E,h_W,u,tau\nJan 1980,1,1,1,1,1\n", "line 2: 'Jan 1980' is not"),
    "twice": (
        "month,T_C,T_E,h_W,u,tau\n1980-01,1,1,1,1,1\n1980-01-15,1,1,1,1,1\n",
        "has 1980-01 twice",
    ),
}


@pytest.mark.parametrize(("text", "told"), FAULTS.values(), ids=FAULTS)
def test_a_file_that_is_no_indices_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(ObservationError) as caught:
        read_candidate(path)
    assert told in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ObservationError, match="cannot be read"):
        read_candidate(tmp_path / "mine.csv")


# --- Known mistakes are named --------------------------------------------------------------


def column(record: Record, name: str) -> np.ndarray:
    return record.development.values[:, NAMES.index(name)]


def other_baseline(values: np.ndarray) -> np.ndarray:
    years = values.reshape(-1, 12)
    return (years - years[:3].mean(axis=0)).ravel()


def detrended(values: np.ndarray) -> np.ndarray:
    time = np.arange(values.size)
    return values - np.polyval(np.polyfit(time, values, 1), time)


SHOWN_BY_ITSELF = {
    "flipped sign": np.negative,
    "month shift": lambda values: np.roll(values, 1) + np.eye(values.size)[0] * 3,
    "wrong baseline": other_baseline,
    "detrended": detrended,
    "fill values": lambda values: 0.93 * values,
    "units": lambda values: 100.0 * values,
    "Kelvin": lambda values: values + 300.0 + np.tile(np.cos(np.arange(12)), values.size // 12),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("pitfall", "mistake"), SHOWN_BY_ITSELF.items(), ids=list(SHOWN_BY_ITSELF))
def test_a_mistake_that_an_index_shows_by_itself_is_named(
    record: Record, name: str, pitfall: str, mistake: Callable[[np.ndarray], np.ndarray]
) -> None:
    candidate = candidate_of(record, {name: mistake(column(record, name))})
    result = check_indices(candidate, record.development)
    assert result.differing == [name]
    (found,) = explain(candidate, record.development, result)
    assert (found.index, found.pitfall) == (name, pitfall)


def changed(recipe: Recipe, **changes: object) -> Recipe:
    return dataclasses.replace(recipe, **changes)  # pyright: ignore[reportArgumentType]


def box(recipe: Recipe, name: str, west: float, east: float) -> Recipe:
    boxes = {**recipe.boxes, name: dataclasses.replace(
        recipe.boxes[name], west_dege=west, east_dege=east)}  # fmt: skip
    return changed(recipe, boxes=boxes)


def zero_on_land(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), 0.0, values)


SHOWN_BY_FIELDS = {
    "no cosine, T_C": ("T_C", "missing cosine weights", changed(RECIPE, weighting=uniform_weights)),
    "no cosine, T_E": ("T_E", "missing cosine weights", changed(RECIPE, weighting=uniform_weights)),
    "no cosine, h_W": ("h_W", "missing cosine weights", changed(RECIPE, weighting=uniform_weights)),
    "no cosine, u": ("u", "missing cosine weights", changed(RECIPE, weighting=uniform_weights)),
    "no cosine, tau": ("tau", "missing cosine weights", changed(RECIPE, weighting=uniform_weights)),
    "land as 0": ("T_C", "fill values", changed(RECIPE, missing=zero_on_land)),
    "land as 0, current": ("u", "fill values", changed(RECIPE, missing=zero_on_land)),
    "293 K": ("h_W", "Kelvin", changed(RECIPE, isotherm_degc=19.85)),
    "west of the dateline": ("T_C", "dateline", box(RECIPE, "T_C", 160, 180)),
    "east of the dateline": ("u", "dateline", box(RECIPE, "u", 180, 210)),
    "without 180": ("tau", "dateline", box(RECIPE, "tau", 120, 179)),
    "Nino 3.4": ("T_E", "wrong box", box(RECIPE, "T_E", 190, 240)),
    "Nino 3 for Nino 4": ("T_C", "wrong box", box(RECIPE, "T_C", 210, 270)),
    "narrow": ("h_W", "wrong box", box(RECIPE, "h_W", 140, 180)),
    "one level": ("u", "wrong levels", changed(RECIPE, current_to_m=5.0)),
}


@pytest.mark.parametrize(
    ("name", "pitfall", "wrong"), SHOWN_BY_FIELDS.values(), ids=list(SHOWN_BY_FIELDS)
)
def test_a_mistake_in_the_fields_processing_is_named(
    raw: RawFields, record: Record, name: str, pitfall: str, wrong: Recipe
) -> None:
    mistaken = build(raw.folder, PERIODS, wrong).record
    candidate = candidate_of(record, {name: column(mistaken, name)})
    result = check_indices(candidate, record.development)
    assert result.differing == [name]
    (found,) = explain(candidate, record.development, result, raw, RECIPE)
    assert (found.index, found.pitfall, found.exact) == (name, pitfall, True)


@pytest.mark.parametrize(
    ("name", "value", "pitfall"),
    [
        ("T_C", np.nan, "dateline"),
        ("u", np.nan, "dateline"),
        ("h_W", np.nan, "Kelvin"),
        ("h_W", 0.0, "Kelvin"),
        ("tau", np.nan, None),
    ],
)
def test_an_empty_index_is_explained(
    record: Record, name: str, value: float, pitfall: str | None
) -> None:
    candidate = candidate_of(record, {name: np.full(72, value)})
    result = check_indices(candidate, record.development)
    (found,) = explain(candidate, record.development, result)
    assert found.pitfall == pitfall


def test_fill_values_read_as_numbers_are_named(record: Record) -> None:
    values = column(record, "T_E") + np.where(np.arange(72) % 5 == 0, -1e34, 0.0)
    candidate = candidate_of(record, {"T_E": values})
    (found,) = explain(candidate, record.development, check_indices(candidate, record.development))
    assert found.pitfall == "fill values"


def test_what_no_known_mistake_gives_is_not_blamed_on_one(raw: RawFields, record: Record) -> None:
    noise = np.random.default_rng(0).normal(size=72)
    candidate = candidate_of(record, {"h_W": noise})
    result = check_indices(candidate, record.development)
    (found,) = explain(candidate, record.development, result, raw, RECIPE)
    assert found.pitfall is None
    assert "no known mistake" in found.sentence()
