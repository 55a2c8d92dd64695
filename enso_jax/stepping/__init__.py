"""How is a step taken fast? Apart into numbers, with all that depends on time alone done before."""

from enso_jax.stepping._adjoint import trajectory as trajectory
from enso_jax.stepping._adjoint import trajectory_with_adjoint as trajectory_with_adjoint
from enso_jax.stepping._months import Months as Months
from enso_jax.stepping._months import advance_month as advance_month
