"""How do a model's parameters follow from what another model, or nature, does?"""

from enso_jax.fitting._samples import Samples as Samples
from enso_jax.fitting._samples import sample as sample
