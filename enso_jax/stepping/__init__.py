"""How is a step taken fast? Apart into numbers, with all that depends on time alone done before."""

from enso_jax.stepping._months import Months as Months
from enso_jax.stepping._months import advance_month as advance_month
