"""Is a folder a sound record, and what is in it?

Load, then parse: see `enso_jax.observations._layout` for the files.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from enso_jax.observations._errors import ObservationError
from enso_jax.observations._layout import (
    DEVELOPMENT,
    EVENT_COUNTS,
    HELD_OUT,
    LISTED_FILES,
    LONG_RECORD,
    MANIFEST,
    NEEDED_FILES,
    OBSERVED_PEAKS,
    SOURCED_NAMES,
    SOURCES,
    SST_NAMES,
    SST_PROFILE,
    Manifest,
    digest_of,
)
from enso_jax.observations._record import KINDS, Record, Series, SstProfile
from enso_jax.observations._tables import REBUILD, File, Table, parse_table
from enso_jax.protocol import EVENT_TYPES, Protocol
from enso_jax.state import MONTHS_PER_YEAR, NAMES, month_label, parse_month

#: Where events are looked for, degrees east; the profile must reach this far.
_EVENT_LONGITUDES: Final = Protocol.peak_longitudes_dege

_POINT_ELSEWHERE: Final = (
    "give the folder of a record with --observations or in $ENSO_OBSERVATIONS, "
    "or leave both unset to use the built-in nature run"
)


def read_record(folder: Path) -> Record:
    """The record that lies in `folder`, once everything in it has been checked.

    Shapes, units and the meaning of NaN are those of `Record`; every array is
    read-only.

    Raises:
        ObservationError: if anything is absent, changed since the record was
            made, or unsound.
    """
    folder = Path(folder)
    return parse(folder, _load(folder))


# --- Load: a folder -> contents ------------------------------------------------------


def _load(folder: Path) -> dict[str, bytes]:
    """The bytes of every file of a record that is in `folder`."""
    try:
        if not folder.exists():
            raise ObservationError(f"{folder} does not exist; {_POINT_ELSEWHERE}.")
        if not folder.is_dir():
            raise ObservationError(f"{folder} is not a folder; {_POINT_ELSEWHERE}.")
        if not any(folder.iterdir()):
            raise ObservationError(f"{folder} is empty; {_POINT_ELSEWHERE}.")
        paths = (folder / name for name in (MANIFEST, *LISTED_FILES))
        return {path.name: path.read_bytes() for path in paths if path.exists()}
    except OSError as error:
        raise ObservationError(
            f"{error.filename} cannot be read ({error.strerror}); "
            "see to its permissions, or choose another record."
        ) from error


# --- Parse: contents -> a record -----------------------------------------------------


def parse(folder: Path, contents: Mapping[str, bytes]) -> Record:
    """The record in `contents`; `folder` only serves to name the files in a fault."""
    files = {name: File(folder / name, content) for name, content in contents.items()}
    if MANIFEST not in files:
        raise ObservationError(
            f"{folder} has no {MANIFEST}, so it is not the folder of a record; {_POINT_ELSEWHERE}."
        )
    manifest = _parse_manifest(files[MANIFEST])
    _check_listing(files, manifest)
    _check_checksums(files, manifest)

    long = _parse_complete_series(files[LONG_RECORD])
    development = _parse_sourced_series(files[DEVELOPMENT])
    held_out = _parse_sourced_series(files[HELD_OUT])
    _check_held_out_is_later(files[HELD_OUT], development, held_out)
    return Record(
        name=manifest.name,
        kind=manifest.kind,
        description=manifest.description,
        long=long,
        development=development,
        held_out=held_out,
        profile=_parse_profile(files[SST_PROFILE]),
        event_counts=_parse_event_counts(files[EVENT_COUNTS], long.months // MONTHS_PER_YEAR),
        peaks=_parse_peaks(files[OBSERVED_PEAKS]) if OBSERVED_PEAKS in files else None,
        digest=digest_of(manifest),
    )


def _parse_manifest(file: File) -> Manifest:
    keys = [field.name for field in dataclasses.fields(Manifest)]
    found = file.json_object(keys)
    for key in ("name", "kind", "description"):
        if not isinstance(found[key], str):
            raise file.fault(f"{key!r} is not text but {found[key]!r}; put it in quotes")
    if found["kind"] not in KINDS:
        raise file.fault(f"'kind' is {found['kind']!r}; it must be {' or '.join(KINDS)}")
    checksums = file.checked_object(found["files"], (), "'files'")
    for name, checksum in checksums.items():
        if not isinstance(checksum, str):
            raise file.fault(f"the checksum of {name!r} is not text but {checksum!r}; {REBUILD}")
    return Manifest(**{key: found[key] for key in keys})


def _check_listing(files: Mapping[str, File], manifest: Manifest) -> None:
    """The manifest lists what is needed, and what it lists is what is there."""
    for name in NEEDED_FILES:
        if name not in manifest.files:
            raise files[MANIFEST].fault(f"does not list {name}, which a record needs; {REBUILD}")
    for name in manifest.files:
        if name not in LISTED_FILES:
            raise files[MANIFEST].fault(f"lists {name!r}, which is no file of a record; remove it")
        if name not in files:
            raise files[MANIFEST].fault(f"lists {name}, which is not in the folder; {REBUILD}")
    for name, file in files.items():
        # A file dropped in beside the others would be used unchecked, or ignored unnoticed.
        if name != MANIFEST and name not in manifest.files:
            raise file.fault(f"{MANIFEST} does not list this file; list it there or remove it")


def _check_checksums(files: Mapping[str, File], manifest: Manifest) -> None:
    for name, checksum in manifest.files.items():
        if files[name].sha256() != checksum:
            raise files[name].fault(
                "the file has changed since the record was made (its SHA-256 is not the one in "
                f"{MANIFEST}); {REBUILD}"
            )


def _check_held_out_is_later(file: File, development: Series, held_out: Series) -> None:
    # A month in both would be one that the modeller has seen.
    if held_out.first_month < development.first_month + development.months:
        raise file.fault(
            f"begins in {held_out.labels[0]}, which {DEVELOPMENT} (to {development.labels[-1]}) "
            "reaches; held-out months must come after all development months, so remove the overlap"
        )


def _parse_complete_series(file: File) -> Series:
    """The SST indices, every value measured."""
    table = parse_table(file, ("month", *SST_NAMES))
    first_month = _parse_months(table)
    values = np.column_stack([table.numbers(name) for name in SST_NAMES])
    return Series(first_month, SST_NAMES, values, np.ones_like(values, dtype=bool))


def _parse_sourced_series(file: File) -> Series:
    """All five variables; any value may be missing, and a source says which are measured."""
    table = parse_table(file, ("month", *NAMES, *(f"{name}_source" for name in SOURCED_NAMES)))
    first_month = _parse_months(table)
    values = {name: table.numbers(name, complete=False) for name in NAMES}
    measured = [
        _parse_sources(table, name, values[name])
        if name in SOURCED_NAMES
        else np.isfinite(values[name])
        for name in NAMES
    ]
    return Series(
        first_month, NAMES, np.column_stack(list(values.values())), np.column_stack(measured)
    )


def _parse_months(table: Table) -> int:
    """The first month of a table of whole years in which every month follows the one before."""
    labels = table.cells["month"]
    months = []
    for row, label in enumerate(labels):
        try:
            months.append(parse_month(label))
        except ValueError as error:
            raise table.fault(f"{error}; write it so", row, "month") from error
        if months[row] != months[0] + row:
            raise table.fault(
                f"{label} stands where {month_label(months[0] + row)} should; give every month "
                "once and in order, with an empty cell for a missing value",
                row,
                "month",
            )
    if months[0] % MONTHS_PER_YEAR != 0:
        raise table.fault(
            f"the series begins with {labels[0]}; make it begin with a January", 0, "month"
        )
    if len(months) % MONTHS_PER_YEAR != 0:
        raise table.fault(
            f"the series ends with {labels[-1]}; make it end with a December", -1, "month"
        )
    return months[0]


def _parse_sources(table: Table, name: str, values: np.ndarray) -> np.ndarray:
    """(months,) bool: whether each value of variable `name` is measured."""
    column = f"{name}_source"
    sources = table.cells[column]
    for row, source in enumerate(sources):
        if source not in SOURCES:
            raise table.fault(
                f"unknown source {source!r}; write {' or '.join(SOURCES)}", row, column
            )
        if np.isnan(values[row]) and source != "missing":
            raise table.fault(
                f"says {source}, but the cell of {name} is empty; write missing", row, column
            )
        if np.isfinite(values[row]) and source == "missing":
            raise table.fault(
                f"says missing, but {name} has a value; write measured or stand-in", row, column
            )
    return np.array([source == "measured" for source in sources])


def _parse_profile(file: File) -> SstProfile:
    table = parse_table(file, ("longitude", "constant", "T_E", "T_C"))
    longitude = table.numbers("longitude")
    spacing = np.diff(longitude)
    if np.any(spacing <= 0):
        row = 1 + int(np.argmax(spacing <= 0))
        raise table.fault("longitudes must increase from row to row; sort them", row, "longitude")
    west, east = _EVENT_LONGITUDES
    # A value stands for its grid cell, which reaches half a spacing to either side.
    if (
        spacing.size == 0
        or longitude[0] - spacing[0] / 2 > west
        or longitude[-1] + spacing[-1] / 2 < east
    ):
        raise file.fault(
            f"covers {longitude[0]:g} to {longitude[-1]:g} degrees east, "
            f"but events are looked for from {west:g} to {east:g}; extend it",
            column="longitude",
        )
    return SstProfile(
        longitude, table.numbers("constant"), table.numbers("T_E"), table.numbers("T_C")
    )


def _parse_event_counts(file: File, years: int) -> dict[str, int]:
    """The counts, which are those of the `years` of the long record."""
    found = file.json_object(["counts"])
    counts = file.checked_object(found["counts"], EVENT_TYPES, "'counts'")
    for event in EVENT_TYPES:
        # `type`, since for `isinstance` true and false are integers.
        if type(counts[event]) is not int or counts[event] < 0:
            raise file.fault(
                f"the count of {event} is {counts[event]!r}; it must be an integer, 0 or more"
            )
    if found.get("period_years", years) != years:
        raise file.fault(
            f"'period_years' is {found['period_years']!r}, but {LONG_RECORD} has {years} years; "
            "count the events of those years"
        )
    return {event: counts[event] for event in EVENT_TYPES}


def _parse_peaks(file: File) -> np.ndarray:
    """(events, 2): strength in degC, longitude in degrees east."""
    table = parse_table(file, ("strength", "longitude"), optional=("winter",))
    longitude = table.numbers("longitude")
    is_outside = (longitude < 0) | (longitude >= 360)
    if np.any(is_outside):
        raise table.fault(
            "not a longitude in degrees east, from 0 to 360; add 360 to a longitude west",
            int(np.argmax(is_outside)),
            "longitude",
        )
    return np.column_stack([table.numbers("strength"), longitude])
