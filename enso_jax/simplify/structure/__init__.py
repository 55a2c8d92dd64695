"""Of which terms is a model made, if it is only known by what it does?"""

from enso_jax.simplify.structure._structure import CORRELATION_SHARE as CORRELATION_SHARE
from enso_jax.simplify.structure._structure import DRIFT_SHARE as DRIFT_SHARE
from enso_jax.simplify.structure._structure import NOISE_SHARE as NOISE_SHARE
from enso_jax.simplify.structure._structure import NONLINEAR_NOISE as NONLINEAR_NOISE
from enso_jax.simplify.structure._structure import Structure as Structure
from enso_jax.simplify.structure._structure import find_structure as find_structure
