"""Which checkpoints does a run have, and whose are they?

A run lies on disk in one of two layouts::

    RUN/lock.json                          what the harness left: who built the models,
    RUN/checkpoints/0001/checkpoint.json   and when each was saved, beside its files

    FOLDER/some-model/                     or a plain folder of submissions, in name order

Nothing here is refused for being a bad submission: a checkpoint without a model is one
invalid row of the run, and one whose `checkpoint.json` cannot be read has no time.
"""

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import pydantic

from enso_jax.submissions import CHECKPOINT, MODEL, REQUIRED_FILES, printable

LOCK: Final = "lock.json"
CHECKPOINTS: Final = "checkpoints"


class RunError(Exception):
    """A folder is not a run. Its text is one sentence."""


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A submission as it was at one moment of a run.

    Attributes:
        name: of its folder.
        folder: where its files are.
        index: its number in the run, its place from 1 where the run does not say.
        eligible_s: eligible time since the run began, None where the run does not say.
        phase, turn: of the run, None where it does not say.
    """

    name: str
    folder: Path
    index: int
    eligible_s: float | None
    phase: str | None
    turn: int | None


@dataclasses.dataclass(frozen=True)
class AgentRun:
    """What one system built under one condition.

    Attributes:
        name: of the run's folder.
        system: what tables call it: the model, else the agent, else the folder's name.
        condition: under which it ran, None where the run does not say.
        identity: the same for the same run, whenever it is read: of `lock.json` where there
            is one, wherever the run lies; else of where the folder lies.
        checkpoints: in order; the last one is the final one.
    """

    name: str
    system: str
    condition: str | None
    identity: str
    checkpoints: tuple[Checkpoint, ...]


def read_run(folder: Path) -> AgentRun:
    """The run in `folder`, of whichever layout.

    Raises:
        RunError: if it is not a folder, holds no checkpoints, or is itself one submission.
    """
    _require_folder(folder)
    root = folder.resolve()
    name = printable(root.name) or printable(str(root))
    lock = _content(root / LOCK)
    about = _object(lock)
    return AgentRun(
        name=name,
        system=_system(about.get("system")) or name,
        condition=_text(about.get("condition")),
        identity=hashlib.sha256(os.fsencode(root) if lock is None else lock).hexdigest()[:16],
        checkpoints=tuple(
            _checkpoint(place, index)
            for index, place in enumerate(_checkpoint_folders(folder), start=1)
        ),
    )


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise RunError(f"{folder} {what}: give the folder of a run.")
    if (folder / MODEL).exists():
        raise RunError(f"{folder} is one submission: use enso-jax grade {folder}.")


def _checkpoint_folders(folder: Path) -> list[Path]:
    """The folders of a run's checkpoints, in order."""
    try:
        if (folder / CHECKPOINTS).is_dir():
            found = list(_subfolders(folder / CHECKPOINTS))
        else:
            found = [place for place in _subfolders(folder) if _has_part_of_submission(place)]
    except OSError as error:
        raise RunError(
            f"{error.filename} cannot be read ({error.strerror}): see to its permissions."
        ) from error
    if not found:
        raise RunError(
            f"{folder} holds no checkpoints: give the folder of one run, with its "
            f"{CHECKPOINTS}/ in it, or a folder of submission folders."
        )
    return sorted(found, key=lambda place: _natural(place.name))


def _subfolders(folder: Path) -> Iterator[Path]:
    """All but hidden ones, which belong to whoever is still writing them."""
    return (place for place in folder.iterdir() if place.is_dir() and place.name[0] != ".")


def _has_part_of_submission(folder: Path) -> bool:
    return any((folder / name).exists() for name in REQUIRED_FILES)


def _natural(name: str) -> tuple[list[str | int], str]:
    """A key that puts 2 before 10; the name itself decides between 1 and 01."""
    parts = re.split(r"([0-9]+)", name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name


# --- What the harness says of a run and of a checkpoint ------------------------------------


class _Metadata(pydantic.BaseModel):
    """What is of use here in a `checkpoint.json`."""

    index: int | None = None
    eligible_s: Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)] | None = None
    phase: str | None = None
    turn: int | None = None


def _checkpoint(folder: Path, place: int) -> Checkpoint:
    try:
        about = _Metadata.model_validate(_object(_content(folder / CHECKPOINT)))
    except pydantic.ValidationError:
        about = _Metadata()
    return Checkpoint(
        name=printable(folder.name),
        folder=folder,
        index=place if about.index is None else about.index,
        eligible_s=about.eligible_s,
        phase=_text(about.phase),
        turn=about.turn,
    )


def _system(about: Any) -> str | None:
    """What tables call a system: its model, with the agent where the model is not known."""
    if not isinstance(about, dict):
        return _text(about)
    return _text(about.get("model")) or _text(about.get("agent"))


def _text(value: Any) -> str | None:
    """`value` as one line, if it is a text that says something."""
    return printable(value) or None if isinstance(value, str) else None


def _object(content: bytes | None) -> dict[str, Any]:
    """The JSON object in `content`, an empty one if there is none."""
    try:
        found = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
