"""How do a model's parameters follow from what another model, or nature, does?"""

from enso_jax.fitting._free import KINDS as KINDS
from enso_jax.fitting._free import STATISTICS_KINDS as STATISTICS_KINDS
from enso_jax.fitting._free import free_parameters as free_parameters
from enso_jax.fitting._increments import increments as increments
from enso_jax.fitting._likelihood import likelihood as likelihood
from enso_jax.fitting._refit import Refit as Refit
from enso_jax.fitting._refit import Refitter as Refitter
from enso_jax.fitting._samples import Samples as Samples
from enso_jax.fitting._samples import sample as sample
from enso_jax.fitting._statistics import statistics as statistics
from enso_jax.fitting._targets import LAGS as LAGS
from enso_jax.fitting._targets import Statistics as Statistics
from enso_jax.fitting._targets import Targets as Targets
from enso_jax.fitting._targets import statistics_of as statistics_of
from enso_jax.fitting._targets import targets_of as targets_of
