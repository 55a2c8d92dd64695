"""What lies in a submission's folder, before any of it is run?

The files are read once, as bytes; what is copied into the sandbox and what the digest
is of are these bytes, whatever happens to the folder meanwhile.
"""

import ast
import dataclasses
import hashlib
import io
import json
import math
import os
import tokenize
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from enso_jax.submissions._contract import (
    CARD,
    CHECKPOINT,
    FILES_LIMIT,
    FOLDER_LIMIT,
    MODEL,
    PARAMETERS,
    PARAMETERS_LIMIT,
    REQUIRED_FILES,
    SETTINGS,
    InvalidSubmission,
    printable,
)

_IGNORED_FOLDERS = {"__pycache__", ".git", ".ipynb_checkpoints"}


@dataclasses.dataclass(frozen=True)
class SubmissionFolder:
    """A folder whose files keep the contract as far as that shows without running them.

    Attributes:
        name: of the folder, as it can be shown.
        files: contents by path within the folder, with forward slashes.
        months_at_1_january: model time on 1 January 00:00, from `submission.toml`, else 0.
        digest: SHA-256 over all paths and contents.
    """

    name: str
    files: Mapping[str, bytes]
    months_at_1_january: float
    digest: str

    def copy_to(self, folder: Path) -> None:
        """Writes the files into `folder`, which exists."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def read_folder(folder: Path) -> SubmissionFolder:
    """The submission in `folder`.

    Raises:
        InvalidSubmission: if a file is missing, too large, or not what it should be, or
            if a link leads out of the folder.
    """
    files = read_files(folder)
    for fault in faults(files):
        raise fault
    return SubmissionFolder(
        name=name_of(folder),
        files=files,
        months_at_1_january=months_at_1_january(files.get(SETTINGS)),
        digest=_digest(files),
    )


def name_of(folder: Path) -> str:
    """What results call the submission in `folder`, whatever bytes its name is made of."""
    return printable(folder.resolve().name)


def faults(files: Mapping[str, bytes]) -> Iterator[InvalidSubmission]:
    """All that is wrong with the files of a submission, as far as that shows without running them.

    Args:
        files: contents by path within the folder.
    """
    for name in REQUIRED_FILES:
        if name not in files:
            yield InvalidSubmission(
                "missing_file",
                f"{name} is missing: a submission has {', '.join(REQUIRED_FILES)}.",
            )
    for name, check in _CHECKS.items():
        if name in files:
            try:
                check(files[name])
            except InvalidSubmission as fault:
                yield fault


def parse_parameters(content: bytes) -> Any:
    """The value of `params.json`: strict JSON, without NaN or Infinity.

    Raises:
        InvalidSubmission: if it is not, or larger than the contract allows.
    """

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON number")

    def finite(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"{text} is too large for a number")
        return value

    if len(content) > PARAMETERS_LIMIT:
        raise InvalidSubmission(
            "bad_params",
            f"{PARAMETERS} has {len(content):,} bytes: the limit is {PARAMETERS_LIMIT:,}.",
        )
    try:
        return json.loads(content.decode("utf-8"), parse_constant=refuse, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise InvalidSubmission(
            "bad_params", f"{PARAMETERS} is not strict JSON ({error}): mend it."
        ) from error


def read_files(folder: Path) -> dict[str, bytes]:
    """Contents of every file below `folder` but the harness's, by path within it, in order.

    Raises:
        InvalidSubmission: if there is too much, or a link that leads out.
    """
    return dict(sorted(_walk(folder)))


def _walk(folder: Path) -> Iterator[tuple[str, bytes]]:
    root = folder.resolve()
    total = count = 0
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _IGNORED_FOLDERS]
        for name in [*folders, *names]:
            path = Path(place) / name
            if path.is_symlink() and not _leads_inside(path, root):
                raise InvalidSubmission(
                    "missing_file",
                    f"{path.relative_to(root)} is a link that leads out of the folder: "
                    "put the file itself there.",
                )
        for name in names:
            path = Path(place) / name
            if not path.is_file() or path == root / CHECKPOINT:
                continue
            total, count = total + path.stat().st_size, count + 1
            if (total > FOLDER_LIMIT and name != PARAMETERS) or count > FILES_LIMIT:
                raise InvalidSubmission(
                    "missing_file",
                    f"the folder holds more than {FOLDER_LIMIT:,} bytes or {FILES_LIMIT:,} files: "
                    "leave only what the model needs.",
                )
            # A byte beyond the limit shows that it is passed: not all of a huge file is read.
            limit = PARAMETERS_LIMIT if name == PARAMETERS else FOLDER_LIMIT
            with path.open("rb") as stream:
                yield path.relative_to(root).as_posix(), stream.read(limit + 1)


def _leads_inside(link: Path, root: Path) -> bool:
    try:
        return link.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link to itself
        return False


def _require_python(content: bytes) -> None:
    try:
        # Python itself lets bytes of another encoding pass in comments; not everywhere, though.
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        ast.parse(content.decode(encoding), filename=MODEL)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InvalidSubmission(
            "not_python", f"{MODEL}{line} is not Python ({text}): mend it."
        ) from error


def _require_text(content: bytes) -> None:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidSubmission(
            "missing_file", f"{CARD} is not UTF-8 text: save it as UTF-8."
        ) from error


def months_at_1_january(settings: bytes | None) -> float:
    """What `submission.toml` says of the calendar; 0 where there is no such file.

    Raises:
        InvalidSubmission: if it cannot be read.
    """
    if settings is None:
        return 0.0
    try:
        found = tomllib.loads(settings.decode("utf-8"))
        value = found.get("calendar", {}).get("months_at_1_january", 0.0)
        if isinstance(value, bool) or not math.isfinite(float(value)):
            raise ValueError(f"months_at_1_january is {value!r}, not a number")
        return float(value)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidSubmission(
            "bad_params",
            f"{SETTINGS} cannot be used ({error}): write [calendar] and "
            "months_at_1_january = 0.5, for example.",
        ) from error


_CHECKS: Final[Mapping[str, Callable[[bytes], object]]] = {
    MODEL: _require_python,
    PARAMETERS: parse_parameters,
    CARD: _require_text,
    SETTINGS: months_at_1_january,
}


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
