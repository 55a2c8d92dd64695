"""What has been graded already, and what does a number depend on?

A store is a folder::

    STORE/results/<key>.json                    a `GradeResult`, named by all it depends on
    STORE/runs/<identity>-<settings>.json       a `GradedRun`: which results are whose

A key is a digest of the submission and of the `Settings`, so the same work is never done
twice and other work never mistaken for it. Every file appears whole or not at all. Several
processes may use one store: where two do the same work, both write the same file.
"""

import dataclasses
import functools
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import pydantic

import enso_jax
from enso_jax.files import OutputError, whole_file
from enso_jax.grading import GradeResult, ResultError, Terms, first_fault, read_result
from enso_jax.submissions import InvalidSubmission

#: The parts of the library that a number depends on.
ENGINE_PARTS: Final = (
    "state",
    "jaxprs",
    "protocol",
    "events",
    "models",
    "stepping",
    "observations",
    "experiments",
    "scores",
    "submissions",
    "grading",
)
RUN_SCHEMA_VERSION: Final = 1
_RESULTS, _RUNS = "results", "runs"
#: A hidden file older than this was left by a process that was killed.
_ABANDONED_S: Final = 3600.0

_Digest = Annotated[str, pydantic.Field(pattern="^[0-9a-f]{64}$")]


class StoreError(Exception):
    """A folder is not a store, or not one that can be read. Its text is one sentence."""


class _Frozen(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class Settings(_Frozen):
    """Everything that a number depends on besides the submission.

    Attributes:
        engine: of the library, see `engine_digest`.
        protocol, observations: digests.
        observations_name, observations_kind: of the record, to be shown.
        seed, replicates: as `enso_jax.grading.grade`.
        engine_choice: what was asked to make the steps.
        months_at_1_january: the calendar in place of the submissions' own; None leaves theirs.
    """

    engine: str
    protocol: str
    observations: str
    observations_name: str
    observations_kind: Literal["measured", "simulated"]
    seed: pydantic.NonNegativeInt
    replicates: pydantic.PositiveInt
    engine_choice: Literal["auto", "compiled", "host"]
    months_at_1_january: Annotated[float, pydantic.Field(allow_inf_nan=False)] | None

    def digest(self) -> str:
        """SHA-256 over all names and values."""
        return _digest(self.model_dump())


class GradedCheckpoint(_Frozen):
    """A checkpoint of a run, and the key of its result."""

    name: str
    index: int
    eligible_s: Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)] | None
    phase: str | None
    turn: int | None
    key: _Digest


class GradedRun(_Frozen):
    """A run, the settings under which it was graded, and where its results are.

    `graded_at` has a time zone. The checkpoints are in order; the last one is the final one.
    """

    schema_version: Literal[1] = RUN_SCHEMA_VERSION
    name: str
    system: str
    condition: str | None
    identity: Annotated[str, pydantic.Field(pattern="^[0-9a-f]+$")]
    settings: Settings
    graded_at: pydantic.AwareDatetime
    checkpoints: Annotated[tuple[GradedCheckpoint, ...], pydantic.Field(min_length=1)]

    def to_json(self) -> str:
        """The text of its file."""
        return self.model_dump_json(indent=2) + "\n"


@dataclasses.dataclass(frozen=True)
class Store:
    """Results and runs in a folder. `open_store` makes one that can be written."""

    folder: Path

    def result(self, key: str) -> GradeResult | None:
        """The result under `key`; None if there is none that can be read."""
        try:
            return read_result(self._result(key))
        except ResultError:
            return None

    def keep(self, key: str, result: GradeResult) -> None:
        """Puts a result under `key`.

        Raises:
            OutputError: if it cannot be written.
        """
        _write(self._result(key), result.to_json())

    def keep_run(self, run: GradedRun) -> None:
        """Puts a run in place of the same one under the same settings.

        Raises:
            OutputError: if it cannot be written.
        """
        name = f"{run.identity}-{run.settings.digest()}.json"
        _write(self.folder / _RUNS / name, run.to_json())

    def runs(self) -> list[GradedRun]:
        """All runs, in the order of their files' names.

        Raises:
            StoreError: if the folder is no store, or one of its runs cannot be read.
        """
        place = self.folder / _RUNS
        if not place.is_dir():
            what = "is no store" if self.folder.is_dir() else "does not exist"
            raise StoreError(
                f"{self.folder} {what}: give the folder that enso-jax grade-run wrote to."
            )
        return [_read_run(path) for path in sorted(place.glob("*.json")) if path.name[0] != "."]

    def _result(self, key: str) -> Path:
        return self.folder / _RESULTS / f"{key}.json"


def open_store(folder: Path) -> Store:
    """The store in `folder`, made if there is none, and cleared of what killed processes left.

    Raises:
        OutputError: if it cannot be made or written.
    """
    for place in (folder / _RESULTS, folder / _RUNS):
        try:
            place.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=place).close()
            for path in _abandoned(place):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(
                f"{folder} cannot be used as a store ({error.strerror or error}): choose another "
                "place, or see to the permissions and the free space there."
            ) from error
    return Store(folder)


def engine_digest() -> str:
    """The version of the library, and a digest of those of its sources that numbers depend on."""
    return f"{enso_jax.__version__}+{_digest_of_sources()[:12]}"


def settings_of(
    terms: Terms,
    engine: str,
    *,
    engine_choice: str = "auto",
    months_at_1_january: float | None = None,
) -> Settings:
    """The settings of grades on `terms`.

    Args:
        terms: record, protocol, seed and replicates.
        engine: `engine_digest()`.
        engine_choice, months_at_1_january: see `Settings`.
    """
    record = terms.record
    return Settings.model_validate(
        {
            "engine": engine,
            "protocol": terms.protocol.digest(),
            "observations": record.digest,
            "observations_name": record.name,
            "observations_kind": record.kind,
            "seed": terms.seed,
            "replicates": terms.replicates,
            "engine_choice": engine_choice,
            "months_at_1_january": months_at_1_january,
        }
    )


def result_key(submission_digest: str, settings: Settings) -> str:
    """The name of the result of a submission under settings: SHA-256, hexadecimal.

    Args:
        submission_digest: of the submission's files, or what `unreadable_digest` gives.
        settings: under which it is graded.
    """
    return _digest({"submission": submission_digest, "settings": settings.model_dump()})


def unreadable_digest(fault: InvalidSubmission) -> str:
    """What stands for the digest of a submission whose files cannot be read, for `fault`."""
    return f"unreadable-{_digest({'category': fault.category, 'message': fault.message})}"


def _digest(content: dict[str, Any]) -> str:
    """SHA-256 over the one JSON text that `content` has."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _digest_of_sources() -> str:
    root = Path(enso_jax.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(_sources(root)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources(root: Path) -> Iterator[Path]:
    for part in ENGINE_PARTS:
        module = root / f"{part}.py"
        yield from [module] if module.exists() else (root / part).rglob("*.py")


def _abandoned(folder: Path) -> Iterator[Path]:
    """Hidden files that nobody can be writing any more; a younger one may still be in work."""
    oldest = time.time() - _ABANDONED_S
    for path in folder.glob(".*.json"):
        try:
            if path.stat().st_mtime < oldest:
                yield path
        except FileNotFoundError:  # another process put it in place, or swept it away
            continue


def _write(path: Path, text: str) -> None:
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _read_run(path: Path) -> GradedRun:
    try:
        return GradedRun.model_validate_json(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    except pydantic.ValidationError as error:
        raise StoreError(
            f"{path} is not a graded run of schema version {RUN_SCHEMA_VERSION}: "
            f"{first_fault(error)}; remove it and grade the run again."
        ) from error
