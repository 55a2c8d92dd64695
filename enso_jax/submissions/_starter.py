"""With what does one begin? A small model that validates and grades, in either form."""

import importlib.resources
import shutil
from pathlib import Path
from typing import Final

from enso_jax.files import OutputError
from enso_jax.submissions._contract import Form

_STARTERS: Final = importlib.resources.files("enso_jax.submissions") / "starters"


def write_starter(folder: Path, form: Form) -> None:
    """Makes `folder` a submission of that form.

    Raises:
        OutputError: if there is something in `folder`, or it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is not an empty folder: choose one that does not exist yet.")
    try:
        with importlib.resources.as_file(_STARTERS / form) as starter:
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(starter, folder, dirs_exist_ok=True, ignore=ignore)
    except OSError as error:
        raise OutputError(f"{folder} cannot be written ({error.strerror or error}).") from error
