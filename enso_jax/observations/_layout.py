"""How does a record lie on disk?

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
file name to bytes. Reading (`_reading`) is load, then parse; writing (`_writing`) is
render, parse (what could not be read back is never written), then save. Only load
and save touch the disk, so what was checked and what is used are the same bytes.
"""

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Final

from enso_jax.observations._record import Kind
from enso_jax.state import NAMES

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


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What `manifest.json` says: whose record this is, and the SHA-256 of its files."""

    name: str
    kind: Kind
    description: str
    files: Mapping[str, str]


def digest_of(manifest: Manifest) -> str:
    """One SHA-256 for all files and the kind; a new name leaves it as it is."""
    listed = [name for name in LISTED_FILES if name in manifest.files]
    lines = [manifest.kind, *(f"{name} {manifest.files[name]}" for name in listed)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
