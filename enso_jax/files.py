"""How do files appear whole, or not at all?

They are written under a hidden name in the same folder; once complete and on the disk,
they are renamed into place, each in one stroke. Until then what was there before is
untouched, and if the writing fails it stays.
"""

import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path


class OutputError(Exception):
    """Something cannot be written. Its text is one sentence."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` when the block ends without an error.

    Raises:
        OutputError: if the file cannot be written, or the disk is full.
    """
    # Not made by tempfile, whose files nobody else may read. The suffix tells writers the format.
    unfinished = path.with_name(f".{uuid.uuid4().hex}{path.suffix}")
    try:
        yield unfinished
        sync(unfinished)
        unfinished.replace(path)
    except OSError as error:
        raise _output_error(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_set(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """A place to write a set of files, which go to `folder` when the block ends without an error.

    Entered before long work, it finds out early whether `folder` can be written.

    Args:
        folder: made if it is not there.
        names: of the files, in the order in which they are put in place; one that vouches
            for the others comes last. A name that was not written is taken away from
            `folder`, so that no file of an earlier set stays beside the new ones.

    Raises:
        OutputError: if `folder` cannot be made or written, or the disk is full.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder))
    except OSError as error:
        raise _output_error(folder, error) from error
    try:
        yield staging
        for path in staging.iterdir():
            sync(path)
        for name in names:
            if (staging / name).exists():
                (staging / name).replace(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        sync(folder)
    except OSError as error:
        raise _output_error(folder, error) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A place to write a folder, which becomes `folder` when the block ends without an error.

    Entered before long work, it finds out early whether `folder` can be written. One that is
    there already stays as it is: that is right if the same was to be written, and else an error.

    Raises:
        OutputError: if there is something else at `folder`, it cannot be written, or the disk
            is full.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder.parent))
        staging.chmod(0o755)  # of mkdtemp, nobody else may read it
    except OSError as error:
        raise _output_error(folder, error) from error
    try:
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder} is a file: choose another place.")
        yield staging
        for path in staging.rglob("*"):
            sync(path)
        if folder.exists() and any(folder.iterdir()):
            if _contents(folder) != _contents(staging):
                raise OutputError(
                    f"{folder} is there already with other contents: choose another place, or "
                    "move it away."
                )
        else:
            staging.rename(folder)
            sync(folder.parent)
    except OSError as error:
        raise _output_error(folder, error) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _contents(folder: Path) -> dict[Path, bytes | None]:
    """The files below a folder by their names in it; None for a folder."""
    return {
        path.relative_to(folder): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }


def _output_error(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{path} cannot be written ({error.strerror or error}): choose another place, "
        "or see to the permissions and the free space there."
    )
