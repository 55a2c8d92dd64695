"""How does a submission come into a folder of its own, without harm to what is there?"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from enso_jax.files import OutputError, whole_set
from enso_jax.submissions._contract import REQUIRED_FILES


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A place for the files of a submission, which are in `folder` once the block has ended.

    Raises:
        OutputError: if there is something in `folder`, or it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is not an empty folder: choose one that does not exist yet.")
    with whole_set(folder, REQUIRED_FILES) as place:
        yield place
