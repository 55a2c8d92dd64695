"""What nature did: records on disk, and the simulated one that stands in for them."""

from enso_jax.observations._anonymous import anonymous as anonymous
from enso_jax.observations._choice import ENVIRONMENT_VARIABLE as ENVIRONMENT_VARIABLE
from enso_jax.observations._choice import installed_folder as installed_folder
from enso_jax.observations._choice import record_in_use as record_in_use
from enso_jax.observations._errors import ObservationError as ObservationError
from enso_jax.observations._nature import nature_run as nature_run
from enso_jax.observations._reading import read_record as read_record
from enso_jax.observations._record import Record as Record
from enso_jax.observations._record import Series as Series
from enso_jax.observations._record import SstProfile as SstProfile
from enso_jax.observations._writing import write_record as write_record
