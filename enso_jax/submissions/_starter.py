"""With what does one begin? A small model that validates and grades, in either form."""

import importlib.resources
from pathlib import Path
from typing import Final

from enso_jax.submissions._contract import REQUIRED_FILES, Form
from enso_jax.submissions._new_folder import new_folder

_STARTERS: Final = importlib.resources.files("enso_jax.submissions") / "starters"


def write_starter(folder: Path, form: Form) -> None:
    """Makes `folder` a submission of that form.

    Raises:
        OutputError: if there is something in `folder`, or it cannot be written.
    """
    with new_folder(folder) as place:
        for name in REQUIRED_FILES:
            (place / name).write_bytes((_STARTERS / form / name).read_bytes())
