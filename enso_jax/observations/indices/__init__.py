"""How do gridded fields become the five indices, and these a record?"""

from enso_jax.observations.indices._anomalies import anomalies as anomalies
from enso_jax.observations.indices._build import Built as Built
from enso_jax.observations.indices._build import Periods as Periods
from enso_jax.observations.indices._build import anonymous_built as anonymous_built
from enso_jax.observations.indices._build import build as build
from enso_jax.observations.indices._build import write_built as write_built
from enso_jax.observations.indices._dataset import INDICES_FILE as INDICES_FILE
from enso_jax.observations.indices._install import install as install
from enso_jax.observations.indices._isotherm import isotherm_depth as isotherm_depth
from enso_jax.observations.indices._monthly import MonthlyIndex as MonthlyIndex
from enso_jax.observations.indices._monthly import monthly_index as monthly_index
from enso_jax.observations.indices._recipe import FIELD_OF as FIELD_OF
from enso_jax.observations.indices._recipe import Recipe as Recipe
from enso_jax.observations.indices._weights import area_weights as area_weights
from enso_jax.observations.indices._weights import cosine_weights as cosine_weights
from enso_jax.observations.indices._weights import uniform_weights as uniform_weights
