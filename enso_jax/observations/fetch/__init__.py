"""How do the raw fields, and nothing more, come from NOAA?"""

from enso_jax.observations.fetch._errors import FetchError as FetchError
from enso_jax.observations.fetch._fetch import Plan as Plan
from enso_jax.observations.fetch._fetch import fetch as fetch
from enso_jax.observations.fetch._fetch import plan as plan
from enso_jax.observations.fetch._fetch import raw_folder as raw_folder
from enso_jax.observations.fetch._http import download as download
from enso_jax.observations.fetch._ledger import LEDGER as LEDGER
from enso_jax.observations.fetch._ledger import check_unchanged as check_unchanged
from enso_jax.observations.fetch._products import NOAA as NOAA
from enso_jax.observations.fetch._products import Piece as Piece
from enso_jax.observations.fetch._products import Server as Server
from enso_jax.observations.fetch._products import pieces as pieces
from enso_jax.observations.fetch._ways import WAYS as WAYS
