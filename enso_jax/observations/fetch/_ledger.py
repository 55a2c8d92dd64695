"""What was fetched, from where, and is it still the same?

`fetched.json` in the raw folder: for every file its SHA-256, its size, its address and, of a
field, the last month in it. It is written anew, whole, after each file, so that an interrupted
fetch goes on where it was.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from enso_jax.files import whole_file
from enso_jax.observations._errors import ObservationError
from enso_jax.observations.fetch._products import Piece
from enso_jax.observations.fields import field_of
from enso_jax.state import month_label

LEDGER: Final = "fetched.json"


def read_ledger(folder: Path) -> dict[str, dict[str, Any]]:
    """What was fetched into a folder, by file name; nothing if nothing was.

    Raises:
        ObservationError: if the ledger is there and cannot be read.
    """
    path = folder / LEDGER
    if not path.exists():
        return {}
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
        return {str(name): dict(entry) for name, entry in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ObservationError(
            f"{path}: cannot be read ({error}); remove it, and all files are fetched again."
        ) from error


def enter(folder: Path, piece: Piece) -> None:
    """Notes a piece that has come."""
    files = read_ledger(folder)
    content = (folder / piece.file).read_bytes()
    files[piece.file] = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "from": piece.address,
    }
    if piece.product is not None:
        files[piece.file]["last_month"] = _last_month(folder / piece.file, piece.product.name)
    with whole_file(folder / LEDGER) as unfinished:
        unfinished.write_text(json.dumps({"files": files}, indent=1) + "\n", encoding="utf-8")


def is_done(folder: Path, piece: Piece, files: dict[str, dict[str, Any]]) -> bool:
    """Whether a piece need not be fetched: it is as it was, and its last year was complete."""
    if not is_unchanged(folder, piece.file, files):
        return False
    last_month = files[piece.file].get("last_month", "")
    return piece.product is None or last_month >= f"{piece.last_year:04d}-12"


def is_unchanged(folder: Path, name: str, files: dict[str, dict[str, Any]]) -> bool:
    """Whether a file is there as it was fetched."""
    path = folder / name
    if name not in files or not path.is_file():
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == files[name].get("sha256")


def check_unchanged(folder: Path) -> None:
    """Refuses a raw folder in which a fetched file has changed or is gone.

    Raises:
        ObservationError: the sentence names the first such file.
    """
    files = read_ledger(folder)
    for name in files:
        if not is_unchanged(folder, name, files):
            raise ObservationError(
                f"{folder / name}: is not as it was fetched (its SHA-256 is not the one in "
                f"{LEDGER}); run `enso-jax observations fetch` again, or remove {LEDGER} if you "
                "changed it yourself."
            )


def _last_month(path: Path, name: str) -> str:
    (part,) = field_of(name, [path]).parts
    return month_label(int(part.times.months.max()))
