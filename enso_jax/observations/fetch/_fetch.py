"""What is still to be fetched, how much is it, and how does it come?"""

import dataclasses
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import platformdirs

from enso_jax.files import OutputError
from enso_jax.observations.fetch._errors import FetchError
from enso_jax.observations.fetch._http import size_of
from enso_jax.observations.fetch._ledger import enter, is_done, is_unchanged, read_ledger
from enso_jax.observations.fetch._products import NOAA, Piece, Server, pieces
from enso_jax.observations.fetch._ways import way_for

#: How often a piece is tried, and the seconds between, doubled each time.
_ATTEMPTS: Final = 4
_WAIT_S: Final = 2.0


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a fetch will do.

    Attributes:
        folder: where the files will be.
        way: a key of `WAYS`.
        wanted: every file of the record.
        missing: those that are not there, or not as they were fetched, or whose last year was not
            over.
        bytes: about what will cross the network.
        room: about the room on the disk that it takes, at most.
        changed: those that are not as they were fetched.
    """

    folder: Path
    way: str
    wanted: tuple[Piece, ...]
    missing: tuple[Piece, ...]
    bytes: int
    room: int
    changed: tuple[str, ...]


def raw_folder() -> Path:
    """Where raw fields are kept for this user."""
    return platformdirs.user_data_path("enso-jax", appauthor=False) / "raw"


def plan(folder: Path, last_year: int, way: str = "opendap", server: Server | None = None) -> Plan:
    """What is still to be fetched into `folder`.

    Args:
        folder: need not be there.
        last_year: of the held-out period.
        way: ``opendap`` or ``http``.
        server: another than NOAA's.

    Raises:
        FetchError: if the sizes of whole files cannot be asked for.
    """
    wanted = tuple(pieces(server or NOAA, last_year))
    ledger = read_ledger(folder)
    missing = tuple(piece for piece in wanted if not is_done(folder, piece, ledger))
    changed = tuple(
        piece.file
        for piece in missing
        if piece.file in ledger and not is_unchanged(folder, piece.file, ledger)
    )
    kept = sum(piece.bytes for piece in missing)
    whole = _whole_sizes(missing) if way == "http" else {}
    crossing = sum(whole.get(piece.file, piece.bytes) for piece in missing)
    room = kept + max(whole.values(), default=0)
    return Plan(folder, way, wanted, missing, crossing, room, changed)


def fetch(
    planned: Plan,
    on_bytes: Callable[[int, str], None] = lambda count, file: None,
    wait_s: float = _WAIT_S,
) -> None:
    """Brings every missing file; each is whole or not there, and noted once it is.

    Args:
        planned: by `plan`.
        on_bytes: called with a number of bytes that have come, and of which file.
        wait_s: how long to wait before the second attempt.

    Raises:
        FetchError: if a file does not come after all attempts.
        OutputError: if the disk is full, or cannot be written.
    """
    folder = planned.folder
    _check_room(planned)
    for piece in planned.missing:
        _with_patience(
            lambda piece=piece: way_for(piece, planned.way)(
                piece, folder / piece.file, lambda count: on_bytes(count, piece.file)
            ),
            wait_s,
        )
        enter(folder, piece)


def _with_patience(bring: Callable[[], None], wait_s: float) -> None:
    """Tries again where that may help."""
    for attempt in range(_ATTEMPTS):
        try:
            return bring()
        except FetchError as error:
            if not error.passing or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(wait_s * 2**attempt)
    return None


def _whole_sizes(missing: tuple[Piece, ...]) -> dict[str, int]:
    """The size of each whole file; of a field with a file a year, that of its first."""
    first: dict[str, int] = {}
    sizes = {}
    for piece in missing:
        if piece.product is not None:
            name = piece.product.name
            if name not in first:
                first[name] = size_of(piece.address) or piece.bytes
            sizes[piece.file] = first[name]
    return sizes


def _check_room(planned: Plan) -> None:
    try:
        planned.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(planned.folder).free
    except OSError as error:
        raise OutputError(
            f"{planned.folder} cannot be written ({error.strerror}): choose another folder "
            "with --out."
        ) from error
    if free < planned.room:
        raise OutputError(
            f"{planned.folder} has room for {free / 1e6:.0f} MB and {planned.room / 1e6:.0f} MB "
            "are needed: make room, or choose another folder with --out."
        )
