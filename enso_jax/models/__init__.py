"""What can be graded: the Step, models written as terms, and the built-in models."""

from enso_jax.models._harmonics import HARMONICS as HARMONICS
from enso_jax.models._harmonics import season as season
from enso_jax.models._library import BUILT_IN as BUILT_IN
from enso_jax.models._library import BuiltInModel as BuiltInModel
from enso_jax.models._library import PublishedScores as PublishedScores
from enso_jax.models._library import UnknownModelError as UnknownModelError
from enso_jax.models._library import built_in as built_in
from enso_jax.models._multiscale import Multiscale as Multiscale
from enso_jax.models._multiscale import multiscale_5 as multiscale_5
from enso_jax.models._shifted import Shifted as Shifted
from enso_jax.models._step import Step as Step
from enso_jax.models._term_model import TermModel as TermModel
from enso_jax.models._terms import Amplitude as Amplitude
from enso_jax.models._terms import Factor as Factor
from enso_jax.models._terms import Feature as Feature
from enso_jax.models._terms import Monomial as Monomial
from enso_jax.models._terms import OneSided as OneSided
from enso_jax.models._terms import Ramp as Ramp
from enso_jax.models._terms import Saturating as Saturating
from enso_jax.models._terms import Sigmoid as Sigmoid
from enso_jax.models._terms import Term as Term
from enso_jax.models._writing import drift as drift
from enso_jax.models._writing import feature as feature
from enso_jax.models._writing import noise as noise
