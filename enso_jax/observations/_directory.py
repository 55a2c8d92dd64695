"""How does a record lie on disk, and is what lies there sound?

A record is a folder::

    manifest.json        name, kind, description, and the SHA-256 of every file below
    long_record.csv      month, T_C, T_E
    development.csv      month, T_C, T_E, h_W, u, tau, h_W_source, u_source, tau_source
    held_out.csv         as development.csv
    sst_profile.csv      longitude, constant, T_E, T_C
    event_counts.json    counts: events of each type in the years of the long record
    observed_peaks.csv   (optional) strength, longitude; perhaps winter before them

An empty cell is a missing value. A source is `measured`, `stand-in` or `missing`;
the SST indices have none, since they are always measured.

Between the folder and the `Record` stand the files' contents, a mapping from
file name to bytes. Reading is load, then parse; writing is render, parse (what
could not be read back is never written), then save. Only load and save touch
the disk, so what was checked and what is used are the same bytes.
"""

import csv
import dataclasses
import hashlib
import io
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from enso_jax.observations._errors import ObservationError
from enso_jax.observations._record import KINDS, Kind, Record, Series, SstProfile
from enso_jax.protocol import EVENT_TYPES, Protocol
from enso_jax.state import MONTHS_PER_YEAR, NAMES, month_label, parse_month

MANIFEST: Final = "manifest.json"
LONG_RECORD: Final = "long_record.csv"
DEVELOPMENT: Final = "development.csv"
HELD_OUT: Final = "held_out.csv"
SST_PROFILE: Final = "sst_profile.csv"
EVENT_COUNTS: Final = "event_counts.json"
OBSERVED_PEAKS: Final = "observed_peaks.csv"

NEEDED_FILES: Final = (LONG_RECORD, DEVELOPMENT, HELD_OUT, SST_PROFILE, EVENT_COUNTS)
#: Every file that a manifest may list, in the order in which the digest takes them.
LISTED_FILES: Final = (*NEEDED_FILES, OBSERVED_PEAKS)

#: The variables that are always measured, and those whose source is told month by month.
SST_NAMES: Final = NAMES[:2]
SOURCED_NAMES: Final = NAMES[2:]
SOURCES: Final = ("measured", "stand-in", "missing")

#: Where events are looked for, degrees east; the profile must reach this far.
EVENT_LONGITUDES: Final = Protocol.peak_longitudes_dege

#: Narrower than `float`, which also takes "nan", "inf", "1_000" and blanks.
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

_POINT_ELSEWHERE: Final = (
    "give the folder of a record with --observations or in $ENSO_OBSERVATIONS, "
    "or leave both unset to use the built-in nature run"
)
_REBUILD: Final = "build the record again or restore it from where it came"


# --- The two public operations, and the digest ---------------------------------------


def read_record(folder: Path) -> Record:
    """The record that lies in `folder`, once everything in it has been checked.

    Shapes, units and the meaning of NaN are those of `Record`; every array is
    read-only.

    Raises:
        ObservationError: if anything is absent, changed since the record was
            made, or unsound.
    """
    folder = Path(folder)
    return _parse(folder, _load(folder))


def write_record(record: Record, folder: Path) -> None:
    """Makes `folder` the home of `record`; it appears whole or not at all.

    `read_record` gives back the identical floats. The digest is not written: it
    follows from the files (`digest_when_written`).

    Raises:
        ObservationError: if `folder` exists and is not an empty folder, if the
            record could not be read back, or if the disk does not take it.
    """
    folder = Path(folder).absolute()
    _save(folder, _render_readable(record, folder))


def digest_when_written(record: Record) -> str:
    """The digest that `record` has once it is written and read back.

    For a record made in memory, which has no files from which to take one.

    Raises:
        ObservationError: if the record could not be read back.
    """
    folder = Path(record.name)
    return _parse(folder, _render_readable(record, folder)).digest


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


@dataclasses.dataclass(frozen=True)
class _File:
    """The bytes of a file, and the path by which a sentence about them names it."""

    path: Path
    content: bytes

    def fault(
        self, problem: str, line: int | None = None, column: str | None = None
    ) -> ObservationError:
        place = str(self.path)
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column}"
        return ObservationError(f"{place}: {problem}.")

    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def text(self) -> str:
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = 1 + self.content.count(b"\n", 0, error.start)
            raise self.fault("not UTF-8 text; save the file as UTF-8", line) from error

    def json_object(self, keys: Iterable[str]) -> dict[str, Any]:
        """The JSON object that the file holds, which has at least `keys`."""
        try:
            found = json.loads(self.text())
        except (ValueError, RecursionError) as error:
            raise self.fault(f"not JSON ({error}); {_REBUILD}") from error
        return self.checked_object(found, keys, "the file")

    def checked_object(self, found: Any, keys: Iterable[str], what: str) -> dict[str, Any]:
        """`found`, if it is a JSON object with at least `keys`; `what` names it in a fault."""
        if not isinstance(found, dict):
            raise self.fault(f"{what} is not a JSON object; {_REBUILD}")
        for key in keys:
            if key not in found:
                raise self.fault(f"{what} has no key {key!r}; add it")
        return found


@dataclasses.dataclass(frozen=True)
class _Manifest:
    """What `manifest.json` says: whose record this is, and the SHA-256 of its files."""

    name: str
    kind: Kind
    description: str
    files: Mapping[str, str]


def _parse(folder: Path, contents: Mapping[str, bytes]) -> Record:
    """The record in `contents`; `folder` only serves to name the files in a fault."""
    files = {name: _File(folder / name, content) for name, content in contents.items()}
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
        digest=_digest(manifest),
    )


def _parse_manifest(file: _File) -> _Manifest:
    keys = [field.name for field in dataclasses.fields(_Manifest)]
    found = file.json_object(keys)
    for key in ("name", "kind", "description"):
        if not isinstance(found[key], str):
            raise file.fault(f"{key!r} is not text but {found[key]!r}; put it in quotes")
    if found["kind"] not in KINDS:
        raise file.fault(f"'kind' is {found['kind']!r}; it must be {' or '.join(KINDS)}")
    checksums = file.checked_object(found["files"], (), "'files'")
    for name, checksum in checksums.items():
        if not isinstance(checksum, str):
            raise file.fault(f"the checksum of {name!r} is not text but {checksum!r}; {_REBUILD}")
    return _Manifest(**{key: found[key] for key in keys})


def _check_listing(files: Mapping[str, _File], manifest: _Manifest) -> None:
    """The manifest lists what is needed, and what it lists is what is there."""
    for name in NEEDED_FILES:
        if name not in manifest.files:
            raise files[MANIFEST].fault(f"does not list {name}, which a record needs; {_REBUILD}")
    for name in manifest.files:
        if name not in LISTED_FILES:
            raise files[MANIFEST].fault(f"lists {name!r}, which is no file of a record; remove it")
        if name not in files:
            raise files[MANIFEST].fault(f"lists {name}, which is not in the folder; {_REBUILD}")
    for name, file in files.items():
        # A file dropped in beside the others would be used unchecked, or ignored unnoticed.
        if name != MANIFEST and name not in manifest.files:
            raise file.fault(f"{MANIFEST} does not list this file; list it there or remove it")


def _check_checksums(files: Mapping[str, _File], manifest: _Manifest) -> None:
    for name, checksum in manifest.files.items():
        if files[name].sha256() != checksum:
            raise files[name].fault(
                "the file has changed since the record was made (its SHA-256 is not the one in "
                f"{MANIFEST}); {_REBUILD}"
            )


def _digest(manifest: _Manifest) -> str:
    """One SHA-256 for all files and the kind; a new name leaves it as it is."""
    listed = [name for name in LISTED_FILES if name in manifest.files]
    lines = [manifest.kind, *(f"{name} {manifest.files[name]}" for name in listed)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _check_held_out_is_later(file: _File, development: Series, held_out: Series) -> None:
    # A month in both would be one that the modeller has seen.
    if held_out.first_month < development.first_month + development.months:
        raise file.fault(
            f"begins in {held_out.labels[0]}, which {DEVELOPMENT} (to {development.labels[-1]}) "
            "reaches; held-out months must come after all development months, so remove the overlap"
        )


# --- Parse: tables -------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Table:
    """A CSV file as text: its cells by column, and the line on which each row stands."""

    file: _File
    lines: Sequence[int]
    cells: Mapping[str, Sequence[str]]

    def fault(self, problem: str, row: int, column: str) -> ObservationError:
        return self.file.fault(problem, self.lines[row], column)

    def numbers(self, column: str, *, complete: bool = True) -> np.ndarray:
        """(rows,) float64; an empty cell is a fault if `complete`, else NaN."""
        rows = range(len(self.lines))
        return np.array([self._number(row, column, complete=complete) for row in rows])

    def _number(self, row: int, column: str, *, complete: bool) -> float:
        cell = self.cells[column][row]
        if not cell:
            if complete:
                raise self.fault("the cell is empty; no value may be missing here", row, column)
            return np.nan
        # A number such as 1e999 is well written and yet becomes infinite.
        if _NUMBER.fullmatch(cell) is None or not np.isfinite(float(cell)):
            remedy = "write a number" if complete else "write a number, or nothing if it is missing"
            raise self.fault(f"{cell!r} is not a finite number; {remedy}", row, column)
        return float(cell)


def _parse_table(file: _File, needed: Sequence[str], optional: Sequence[str] = ()) -> _Table:
    """The table in a CSV file: all of the columns `needed`, perhaps the `optional`, no others."""
    (header_line, header), *rows = _parse_csv(file)
    for column in header:
        if header.count(column) > 1:
            raise file.fault("the column stands here twice; keep one", header_line, column)
        if column not in (*needed, *optional):
            known = ", ".join(needed)
            raise file.fault(
                f"unknown column; remove it (the file has {known})", header_line, repr(column)
            )
    for column in needed:
        if column not in header:
            raise file.fault("the column is missing; add it", header_line, column)
    for line, cells in rows:
        if len(cells) != len(header):
            raise file.fault(
                f"the row has {len(cells)} cells and the header {len(header)}; complete the row",
                line,
            )
    columns = zip(*(cells for _, cells in rows), strict=True)
    return _Table(file, [line for line, _ in rows], dict(zip(header, columns, strict=True)))


def _parse_csv(file: _File) -> list[tuple[int, list[str]]]:
    """The line number and the cells of the header and of one or more rows below it."""
    reader = csv.reader(io.StringIO(file.text(), newline=""), strict=True)
    try:
        rows = [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise file.fault(f"not CSV ({error}); mend the line", reader.line_num) from error
    if len(rows) < 2:
        raise file.fault(f"the file has no rows of data; {_REBUILD}")
    return rows


def _parse_complete_series(file: _File) -> Series:
    """The SST indices, every value measured."""
    table = _parse_table(file, ("month", *SST_NAMES))
    first_month = _parse_months(table)
    values = np.column_stack([table.numbers(name) for name in SST_NAMES])
    return Series(first_month, SST_NAMES, values, np.ones_like(values, dtype=bool))


def _parse_sourced_series(file: _File) -> Series:
    """All five variables; any value may be missing, and a source says which are measured."""
    table = _parse_table(file, ("month", *NAMES, *(f"{name}_source" for name in SOURCED_NAMES)))
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


def _parse_months(table: _Table) -> int:
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


def _parse_sources(table: _Table, name: str, values: np.ndarray) -> np.ndarray:
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


def _parse_profile(file: _File) -> SstProfile:
    table = _parse_table(file, ("longitude", "constant", "T_E", "T_C"))
    longitude = table.numbers("longitude")
    spacing = np.diff(longitude)
    if np.any(spacing <= 0):
        row = 1 + int(np.argmax(spacing <= 0))
        raise table.fault("longitudes must increase from row to row; sort them", row, "longitude")
    west, east = EVENT_LONGITUDES
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


def _parse_event_counts(file: _File, years: int) -> dict[str, int]:
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


def _parse_peaks(file: _File) -> np.ndarray:
    """(events, 2): strength in degC, longitude in degrees east."""
    table = _parse_table(file, ("strength", "longitude"), optional=("winter",))
    longitude = table.numbers("longitude")
    is_outside = (longitude < 0) | (longitude >= 360)
    if np.any(is_outside):
        raise table.fault(
            "not a longitude in degrees east, from 0 to 360; add 360 to a longitude west",
            int(np.argmax(is_outside)),
            "longitude",
        )
    return np.column_stack([table.numbers("strength"), longitude])


# --- Render: a record -> contents ----------------------------------------------------


def _render_readable(record: Record, folder: Path) -> dict[str, bytes]:
    """The contents of `record`'s files, having proved that they can be read."""
    contents = _render(record)
    try:
        _parse(folder, contents)
    except ObservationError as error:
        raise ObservationError(
            f"The record cannot be written, for it would hold: {error}"
        ) from error
    return contents


def _render(record: Record) -> dict[str, bytes]:
    contents = {
        LONG_RECORD: _render_series(record.long),
        DEVELOPMENT: _render_series(record.development),
        HELD_OUT: _render_series(record.held_out),
        SST_PROFILE: _render_profile(record.profile),
        EVENT_COUNTS: _render_event_counts(record),
    }
    if record.peaks is not None:
        contents[OBSERVED_PEAKS] = _render_table(
            ["strength", "longitude"], [map(_render_number, peak) for peak in record.peaks]
        )
    manifest = _Manifest(
        record.name,
        record.kind,
        record.description,
        {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
    )
    # Last, since files are written in this order and the manifest vouches for the others.
    contents[MANIFEST] = _render_json(dataclasses.asdict(manifest))
    return contents


def _render_series(series: Series) -> bytes:
    sourced = [column for column, name in enumerate(series.names) if name not in SST_NAMES]
    for column, name in enumerate(series.names):
        if column not in sourced and np.any(series.is_stand_in[:, column]):
            raise ObservationError(
                f"The record cannot be written, for {name} has a stand-in and the files have no "
                "column to say so; give a measured value or NaN."
            )
    header = ["month", *series.names, *(f"{series.names[column]}_source" for column in sourced)]
    sources = np.where(
        series.measured, "measured", np.where(series.is_stand_in, "stand-in", "missing")
    )
    rows = [
        [label, *map(_render_number, values), *row_sources]
        for label, values, row_sources in zip(
            series.labels, series.values, sources[:, sourced], strict=True
        )
    ]
    return _render_table(header, rows)


def _render_profile(profile: SstProfile) -> bytes:
    columns = (profile.longitude, profile.constant, profile.east, profile.central)
    rows = [map(_render_number, row) for row in zip(*columns, strict=True)]
    return _render_table(["longitude", "constant", "T_E", "T_C"], rows)


def _render_event_counts(record: Record) -> bytes:
    return _render_json(
        {
            "period_years": record.long.months // MONTHS_PER_YEAR,
            "counts": dict(record.event_counts),
        }
    )


def _render_number(value: float) -> str:
    """The shortest text that reads back as the identical float; nothing for NaN."""
    return "" if np.isnan(value) else repr(float(value))


def _render_table(header: Sequence[str], rows: Iterable[Iterable[str]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def _render_json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


# --- Save: contents -> a folder ------------------------------------------------------


def _save(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Writes `contents` beside `folder` and moves them there in one stroke."""
    # Made by mkdir and not by tempfile, whose folders nobody else may read.
    unfinished = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    try:
        _refuse_to_overwrite(folder)
        unfinished.mkdir(parents=True)
        for name, content in contents.items():
            _write_through(unfinished / name, content)
        _sync_folder(unfinished)
        # Replaces an empty folder, and fails on one that has been filled meanwhile.
        unfinished.rename(folder)
        _sync_folder(folder.parent)
    except OSError as error:
        raise ObservationError(
            f"{folder} cannot be written ({error.strerror}); "
            "see to the permissions and the free space there, or choose another folder."
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _refuse_to_overwrite(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ObservationError(f"{folder} is a file; choose a folder that does not exist yet.")
    if folder.is_dir() and any(folder.iterdir()):
        raise ObservationError(f"{folder} is not empty; remove it first or choose another folder.")


def _write_through(path: Path, content: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
