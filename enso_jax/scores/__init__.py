"""From arrays to numbers: the three dimension scores and their composite.

Plain NumPy. Nothing here sees a model, or reads a file.
"""

from enso_jax.scores._composite import composite_score as composite_score
from enso_jax.scores._curves import acf as acf
from enso_jax.scores._curves import curve_score as curve_score
from enso_jax.scores._curves import pdf as pdf
from enso_jax.scores._curves import pdf_weights as pdf_weights
from enso_jax.scores._curves import seasonal_variance as seasonal_variance
from enso_jax.scores._curves import skewness as skewness
from enso_jax.scores._diversity import event_points as event_points
from enso_jax.scores._diversity import order_score as order_score
from enso_jax.scores._diversity import region as region
from enso_jax.scores._diversity import region_score as region_score
from enso_jax.scores._dynamical import TESTS as TESTS
from enso_jax.scores._dynamical import DynamicalScore as DynamicalScore
from enso_jax.scores._dynamical import assimilated as assimilated
from enso_jax.scores._dynamical import dynamical_score as dynamical_score
from enso_jax.scores._dynamical import nse as nse
from enso_jax.scores._dynamical import observation_error as observation_error
from enso_jax.scores._dynamical import withheld as withheld
from enso_jax.scores._events import event_scores as event_scores
from enso_jax.scores._metrics import METRICS as METRICS
from enso_jax.scores._metrics import Metric as Metric
from enso_jax.scores._predictive import PredictiveScore as PredictiveScore
from enso_jax.scores._predictive import forecast_starts as forecast_starts
from enso_jax.scores._predictive import predictive_score as predictive_score
from enso_jax.scores._predictive import targets as targets
from enso_jax.scores._statistical import INDICES as INDICES
from enso_jax.scores._statistical import Climate as Climate
from enso_jax.scores._statistical import StatisticalScore as StatisticalScore
from enso_jax.scores._statistical import observed_climate as observed_climate
from enso_jax.scores._statistical import pdf_grid as pdf_grid
from enso_jax.scores._statistical import simulated_climate as simulated_climate
from enso_jax.scores._statistical import statistical_score as statistical_score
