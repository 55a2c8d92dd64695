"""What is done with a model: a free run, smoothing, forecasts.

Pure functions of a Step, its inputs and its noise; nothing here reads a file, and
nothing raises inside a compiled function.
"""

from enso_jax.experiments._forecast import Forecasts as Forecasts
from enso_jax.experiments._forecast import forecast as forecast
from enso_jax.experiments._free_run import FreeRun as FreeRun
from enso_jax.experiments._free_run import free_run as free_run
from enso_jax.experiments._noise import Noise as Noise
from enso_jax.experiments._noise import RecordedNoise as RecordedNoise
from enso_jax.experiments._noise import SeededNoise as SeededNoise
from enso_jax.experiments._precision import PrecisionError as PrecisionError
from enso_jax.experiments._precision import in_precision as in_precision
from enso_jax.experiments._smoother import Smoothing as Smoothing
from enso_jax.experiments._smoother import smooth as smooth
from enso_jax.experiments._status import FINITE as FINITE
from enso_jax.experiments._stepwise import Advance as Advance
from enso_jax.experiments._stepwise import forecast_noise as forecast_noise
from enso_jax.experiments._stepwise import forecast_stepwise as forecast_stepwise
from enso_jax.experiments._stepwise import free_run_stepwise as free_run_stepwise
from enso_jax.experiments._stepwise import smooth_stepwise as smooth_stepwise
