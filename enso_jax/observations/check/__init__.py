"""Are someone's indices the reference's, and if not, which known mistake makes them so?"""

from enso_jax.observations.check._candidate import Candidate as Candidate
from enso_jax.observations.check._candidate import read_candidate as read_candidate
from enso_jax.observations.check._comparison import TOLERANCES as TOLERANCES
from enso_jax.observations.check._comparison import CheckResult as CheckResult
from enso_jax.observations.check._comparison import IndexCheck as IndexCheck
from enso_jax.observations.check._comparison import check_indices as check_indices
from enso_jax.observations.check._explanation import Explanation as Explanation
from enso_jax.observations.check._explanation import explain as explain
from enso_jax.observations.check._field_pitfalls import FIELD_PITFALLS as FIELD_PITFALLS
from enso_jax.observations.check._series_pitfalls import SERIES_PITFALLS as SERIES_PITFALLS
