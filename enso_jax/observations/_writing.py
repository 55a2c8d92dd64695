"""How does a record get onto a disk, whole and readable?

Render, prove that it can be read, then save: see `enso_jax.observations._layout`.
"""

import csv
import dataclasses
import hashlib
import io
import json
import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from enso_jax.files import sync
from enso_jax.observations._errors import ObservationError
from enso_jax.observations._layout import (
    DEVELOPMENT,
    EVENT_COUNTS,
    HELD_OUT,
    LONG_RECORD,
    MANIFEST,
    OBSERVED_PEAKS,
    SST_NAMES,
    SST_PROFILE,
    Manifest,
)
from enso_jax.observations._reading import parse
from enso_jax.observations._record import Record, Series, SstProfile
from enso_jax.state import MONTHS_PER_YEAR


def write_record(
    record: Record, folder: Path, beside: Mapping[str, bytes] = MappingProxyType({})
) -> None:
    """Makes `folder` the home of `record`; it appears whole or not at all.

    `read_record` gives back the identical floats.
    The digest is not written: it follows from the files. `beside` are other files, by name, that
    appear with those of the record and are no part of it.

    Raises:
        ObservationError: if `folder` exists and is not an empty folder, if the
            record could not be read back, or if the disk does not take it.
    """
    folder = Path(folder).absolute()
    _save(folder, {**beside, **_render_readable(record, folder)})


# --- Render: a record -> contents ----------------------------------------------------


def _render_readable(record: Record, folder: Path) -> dict[str, bytes]:
    """The contents of `record`'s files, having proved that they can be read."""
    contents = _render(record)
    try:
        parse(folder, contents)
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
    manifest = Manifest(
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
            (unfinished / name).write_bytes(content)
            sync(unfinished / name)
        sync(unfinished)
        # Replaces an empty folder, and fails on one that has been filled meanwhile.
        unfinished.rename(folder)
        sync(folder.parent)
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
