"""How does a built record become the one that is used by default?"""

import shutil
import uuid
from pathlib import Path

from enso_jax.observations._choice import installed_folder
from enso_jax.observations._errors import ObservationError
from enso_jax.observations._record import Record
from enso_jax.observations.indices._build import Built, write_built


def install(built: Built) -> tuple[Record, Path]:
    """Puts a record in the place of the one installed before, if any; gives it and its folder.

    The old one stays until the new one is whole.

    Raises:
        ObservationError: if it cannot be written.
    """
    folder = installed_folder()
    fresh = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    former = folder.with_name(f".{folder.name}.former.{uuid.uuid4().hex}")
    record = write_built(built, fresh)
    try:
        if folder.exists():
            folder.rename(former)
        fresh.rename(folder)
    except OSError as error:
        if former.exists() and not folder.exists():
            former.rename(folder)
        raise ObservationError(
            f"{folder} cannot be replaced ({error.strerror}); see to the permissions there."
        ) from error
    finally:
        shutil.rmtree(former, ignore_errors=True)
        shutil.rmtree(fresh, ignore_errors=True)
    return record, folder
