"""Which small gridded fields have the indices of a given record?

For tests, for trying the pipeline without NOAA, and for exercises on a simulated nature.
"""

from enso_jax.observations.synthetic._fields import SyntheticField as SyntheticField
from enso_jax.observations.synthetic._fields import synthetic_fields as synthetic_fields
from enso_jax.observations.synthetic._noaa import write_fields as write_fields
