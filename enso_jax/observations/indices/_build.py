"""How does a folder of raw fields become a record?

Fields, indices, anomalies, then the record's parts, each from the one before. T_C and T_E of
the long record are the HadISST series of PSL where these lie beside the fields, else the
gridded SST's own; the profile, the observed peaks and the event counts are the gridded SST's.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from enso_jax.observations._anonymous import anonymous, anonymous_shift_years
from enso_jax.observations._errors import ObservationError
from enso_jax.observations._reading import read_record
from enso_jax.observations._record import Record, Series
from enso_jax.observations._writing import write_record
from enso_jax.observations.fields import RawFields, find_fields, read_long_series
from enso_jax.observations.indices._anomalies import anomalies
from enso_jax.observations.indices._dataset import INDICES_FILE, indices_bytes
from enso_jax.observations.indices._equator import counts_of, equator_of, peaks_of, profile_of
from enso_jax.observations.indices._monthly import MonthlyIndex, monthly_index
from enso_jax.observations.indices._recipe import FIELD_OF, Recipe
from enso_jax.state import MONTHS_PER_YEAR, NAMES, month_index, month_label

Years = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Periods:
    """First and last year of the three parts of a record. The defaults are the paper's."""

    long: Years = (1950, 2019)
    development: Years = (1980, 2014)
    held_out: Years = (2015, 2024)


@dataclasses.dataclass(frozen=True, eq=False)
class Built:
    """A record made from raw fields.

    Attributes:
        record: the record; its digest is empty, since it follows from the files once written.
        first_month: integer date of the first row of `values`.
        values: (months, 5) anomalies from the development's first month to the held-out's
            last, NaN after the end of a field.
        climatology: (12, 5) what was removed.
        recipe: how they were made.
        sources: for each field one SHA-256 of the names and contents of its files.
        notes: what a user should know of the data, a sentence each.
    """

    record: Record
    first_month: int
    values: np.ndarray
    climatology: np.ndarray
    recipe: Recipe
    sources: Mapping[str, str]
    notes: tuple[str, ...]


def build(
    folder: Path,
    periods: Periods | None = None,
    recipe: Recipe | None = None,
    on_index: Callable[[str], None] = lambda name: None,
) -> Built:
    """The record in a folder of raw fields.

    Args:
        folder: holds sst, pottmp, ucur and uwnd in NetCDF files, in any layout.
        periods: of the record.
        recipe: of the indices.
        on_index: called with the name of each index that is done.

    Raises:
        ObservationError: if a field is missing, unsound or does not cover the periods.
    """
    periods, recipe = periods or Periods(), recipe or Recipe()
    raw = find_fields(folder)
    monthly: dict[str, MonthlyIndex] = {}
    for name in NAMES:
        monthly[name] = monthly_index(raw.field(FIELD_OF[name]), name, recipe)
        on_index(name)
    series = {
        name: anomalies(index.values, index.first_month, recipe.baseline_years, name)
        for name, index in monthly.items()
    }
    departures = {
        name: dataclasses.replace(monthly[name], values=values)
        for name, (values, _) in series.items()
    }
    development = _five(departures, periods.development)
    held_out = _five(departures, periods.held_out)
    if np.isnan(development.values).any():
        raise _ends_too_early(departures, periods.development)
    for name, index in departures.items():
        if _end(index) <= month_index(periods.held_out[0], 1):
            raise _ends_too_early({name: index}, periods.held_out)
    record = _record(raw, departures, development, held_out, periods, recipe)
    return Built(
        record=record,
        first_month=development.first_month,
        values=np.concatenate([development.values, held_out.values]),
        climatology=np.column_stack([series[name][1] for name in NAMES]),
        recipe=recipe,
        sources={name: _sha256(raw.paths_of(name)) for name in raw.names},
        notes=tuple(_notes(departures, periods)),
    )


def write_built(built: Built, folder: Path) -> Record:
    """Makes `folder` the home of a built record and its `indices.nc`; gives it as it is read back.

    Raises:
        ObservationError: as `write_record`.
    """
    about = {
        "title": f"Five monthly ENSO indices: {built.record.name}",
        "comment": built.record.description,
        "source": "; ".join(f"{name} sha256:{digest}" for name, digest in built.sources.items()),
    }
    content = indices_bytes(
        built.first_month, built.values, built.climatology, built.recipe.baseline_years, about
    )
    write_record(built.record, folder, beside={INDICES_FILE: content})
    return read_record(folder)


def anonymous_built(built: Built) -> Built:
    """The same with relative years everywhere, as `anonymous` says."""
    shift = anonymous_shift_years(built.record)
    first, last = built.recipe.baseline_years
    recipe = dataclasses.replace(built.recipe, baseline_years=(first - shift, last - shift))
    return dataclasses.replace(
        built,
        record=anonymous(built.record),
        first_month=built.first_month - MONTHS_PER_YEAR * shift,
        recipe=recipe,
    )


# --- The parts of a record --------------------------------------------------------------


def _record(
    raw: RawFields,
    departures: Mapping[str, MonthlyIndex],
    development: Series,
    held_out: Series,
    periods: Periods,
    recipe: Recipe,
) -> Record:
    gridded = np.column_stack([_years(departures[name], periods.long) for name in NAMES[:2]])
    equator = equator_of(raw.field("sst"), recipe)
    begin = month_index(periods.long[0], 1) - equator.first_month
    along = equator.sst[begin : begin + len(gridded)]
    long, of_long = _long_record(raw, gridded, periods)
    last = month_label(month_index(periods.held_out[1], 12))[:4]
    return Record(
        name=f"synthetic-{last}" if raw.simulated else f"built-{last}",
        kind="simulated" if raw.simulated else "measured",
        description=(
            f"Built from {'simulated ' if raw.simulated else ''}gridded SST, temperature, current "
            f"and wind; long record: {of_long}; climatology {recipe.baseline_years[0]}-"
            f"{recipe.baseline_years[1]} removed"
        ),
        long=long,
        development=development,
        held_out=held_out,
        profile=profile_of(equator.longitude, along, gridded),
        event_counts=counts_of(gridded),
        peaks=peaks_of(equator.longitude, along, gridded),
        # Known once it is written: it follows from the files.
        digest="",
    )


def _long_record(raw: RawFields, gridded: np.ndarray, periods: Periods) -> tuple[Series, str]:
    """T_C and T_E of the long record, and where they are from."""
    values, source = gridded, "the gridded SST"
    if set(raw.long_series) == {"nino3", "nino4"}:
        found = [_long_series(raw.long_series[name], periods.long) for name in ("nino4", "nino3")]
        values, source = np.column_stack(found), "HadISST series"
    first_month = month_index(periods.long[0], 1)
    return Series(first_month, NAMES[:2], values, np.ones(values.shape, dtype=bool)), source


def _long_series(path: Path, years: Years) -> np.ndarray:
    first_month, values = read_long_series(path)
    begin, end = (month_index(year, 1) - first_month for year in (years[0], years[1] + 1))
    wanted = values[max(begin, 0) : end]
    if begin < 0 or end > len(values) or np.isnan(wanted).any():
        raise ObservationError(
            f"{path}: does not have every month of {years[0]}-{years[1]}, which the long record "
            "needs; fetch it again."
        )
    return wanted


def _years(index: MonthlyIndex, years: Years) -> np.ndarray:
    """The values of some years, all of which must be there."""
    begin, end = (month_index(year, 1) - index.first_month for year in (years[0], years[1] + 1))
    if begin < 0 or end > len(index.values):
        raise ObservationError(
            f"{FIELD_OF[index.name]} runs from {month_label(index.first_month)} to "
            f"{month_label(_end(index) - 1)}, but the long record needs {years[0]}-{years[1]}; "
            "bring the files of all these years."
        )
    return index.values[begin:end]


def _five(departures: Mapping[str, MonthlyIndex], years: Years) -> Series:
    """All five indices in some years; NaN, and not measured, where a field has no month."""
    first_month = month_index(years[0], 1)
    months = month_index(years[1] + 1, 1) - first_month
    values = np.full((months, len(NAMES)), np.nan)
    for column, name in enumerate(NAMES):
        index = departures[name]
        place = index.first_month - first_month + np.arange(len(index.values))
        inside = (place >= 0) & (place < months)
        values[place[inside], column] = index.values[inside]
    return Series(first_month, NAMES, values, np.isfinite(values))


def _end(index: MonthlyIndex) -> int:
    """The month after the last."""
    return index.first_month + len(index.values)


def _ends_too_early(departures: Mapping[str, MonthlyIndex], years: Years) -> ObservationError:
    extents = ", ".join(
        f"{FIELD_OF[name]} {month_label(index.first_month)} to {month_label(_end(index) - 1)}"
        for name, index in departures.items()
    )
    return ObservationError(
        f"The fields do not cover {years[0]}-{years[1]} (there is {extents}); "
        "bring the files of these years."
    )


def _notes(departures: Mapping[str, MonthlyIndex], periods: Periods) -> list[str]:
    last_month = month_index(periods.held_out[1], 12)
    notes = []
    for name, index in departures.items():
        if index.incomplete:
            notes.append(
                f"{name}: {index.incomplete} months rest on fewer cells than the most complete."
            )
        if (missing := last_month + 1 - _end(index)) > 0:
            notes.append(
                f"{name}: {FIELD_OF[name]} ends in {month_label(_end(index) - 1)}; "
                f"the last {missing} held-out months are missing."
            )
    return notes


def _sha256(paths: Sequence[Path]) -> str:
    lines = []
    for path in paths:
        with path.open("rb") as file:
            lines.append(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
