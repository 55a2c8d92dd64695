"""How is a board read on a terminal? As tables, made here and printed by the command."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from enso_jax.leaderboard._lines import (
    BOARD_HEADER,
    CROSSING_HEADER,
    board_lines,
    crossing_lines,
)
from enso_jax.leaderboard._paper import PaperRow
from enso_jax.leaderboard._standings import Standings

_TEXT_COLUMNS = ("", "system", "changes places with")


def board_table(board: Standings, paper: Sequence[PaperRow] = ()) -> Table:
    """Systems by rank: scores, final and best composite with standard errors, when it was best.

    `paper` puts the paper's rows among them, marked.
    """
    return _table(BOARD_HEADER, board_lines(board, paper))


def crossing_table(board: Standings) -> Table:
    """The weights at which each system changes places with the next one and the reference."""
    return _table(CROSSING_HEADER, crossing_lines(board))


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for title in header:
        table.add_column(title, justify="left" if title in _TEXT_COLUMNS else "right")
    for cells in lines:
        table.add_row(*map(escape, cells))
    return table
