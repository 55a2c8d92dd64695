"""The systems of a store, compared: ranks, errors, ties, and what the weights decide."""

from enso_jax.leaderboard._formats import CSV_COLUMNS as CSV_COLUMNS
from enso_jax.leaderboard._formats import to_csv as to_csv
from enso_jax.leaderboard._formats import to_json as to_json
from enso_jax.leaderboard._formats import to_markdown as to_markdown
from enso_jax.leaderboard._lines import heading as heading
from enso_jax.leaderboard._lines import notes as notes
from enso_jax.leaderboard._paper import PAPER as PAPER
from enso_jax.leaderboard._paper import PaperRow as PaperRow
from enso_jax.leaderboard._paper import paper_rows as paper_rows
from enso_jax.leaderboard._standings import CheckpointScores as CheckpointScores
from enso_jax.leaderboard._standings import Crossing as Crossing
from enso_jax.leaderboard._standings import LeftOut as LeftOut
from enso_jax.leaderboard._standings import Standing as Standing
from enso_jax.leaderboard._standings import Standings as Standings
from enso_jax.leaderboard._standings import UnknownSystemError as UnknownSystemError
from enso_jax.leaderboard._standings import standings as standings
from enso_jax.leaderboard._table import board_table as board_table
from enso_jax.leaderboard._table import crossing_table as crossing_table
from enso_jax.leaderboard._weights import DEFAULT_WEIGHTS as DEFAULT_WEIGHTS
from enso_jax.leaderboard._weights import DIMENSIONS as DIMENSIONS
from enso_jax.leaderboard._weights import Weights as Weights
from enso_jax.leaderboard._weights import WeightsError as WeightsError
from enso_jax.leaderboard._weights import crossing_weight as crossing_weight
from enso_jax.leaderboard._weights import normalised as normalised
from enso_jax.leaderboard._weights import parse_weights as parse_weights
from enso_jax.leaderboard._weights import weighted as weighted
