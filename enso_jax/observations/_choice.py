"""Which record is in use?

The first of these that there is: the folder that was named; the one in
$ENSO_OBSERVATIONS; the one that was installed in the user's data folder; the
nature run.
"""

import os
from pathlib import Path
from typing import Final

import platformdirs

from enso_jax.observations._nature import nature_run
from enso_jax.observations._reading import read_record
from enso_jax.observations._record import Record

ENVIRONMENT_VARIABLE: Final = "ENSO_OBSERVATIONS"


def installed_folder() -> Path:
    """Where a record lies that was installed for this user."""
    return platformdirs.user_data_path("enso-jax", appauthor=False) / "observations"


def record_in_use(folder: Path | None = None) -> Record:
    """The record to grade on.

    Args:
        folder: the folder that was asked for, None if none was.

    Raises:
        ObservationError: if the folder that was named, by argument or by
            environment, does not hold a sound record. It is never passed over.
    """
    named = folder or os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        return read_record(Path(named))
    if installed_folder().exists():
        return read_record(installed_folder())
    return nature_run()
