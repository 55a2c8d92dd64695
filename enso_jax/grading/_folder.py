"""How does a set of files appear in a folder whole, or not at all?

It is written in a hidden folder inside; once complete and on the disk, its files are
renamed into place, each in one stroke. Until then what was there before is untouched.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path


class OutputError(Exception):
    """A folder cannot be written. Its text is one sentence."""


@contextlib.contextmanager
def output_folder(folder: Path, order: Sequence[str]) -> Iterator[Path]:
    """A place to write files that go to `folder` when the block ends without an error.

    Entered before long work, it finds out early whether `folder` can be written.

    Args:
        folder: made if it is not there.
        order: the files' names in the order in which they are put in place; a file that
            vouches for the others comes last. A name that was not written is taken away
            from `folder`, so that no file of an earlier set stays beside the new ones.

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
            _sync(path)
        for name in order:
            if (staging / name).exists():
                (staging / name).replace(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        _sync(folder)
    except OSError as error:
        raise _output_error(folder, error) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _output_error(folder: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{folder} cannot be written ({error.strerror or error}): choose another folder, "
        "or see to the permissions and the free space there."
    )


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
