"""`enso-jax leaderboard`: the systems of a store, compared."""

import enum
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enso_jax.cli._console import wide_console
from enso_jax.cli._options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enso_jax.leaderboard import PaperRow, Standings, Weights


class BoardFormat(enum.StrEnum):
    """What a board is printed as."""

    text = enum.auto()
    csv = enum.auto()
    markdown = enum.auto()
    json = enum.auto()


def leaderboard(
    store: Annotated[
        Path, typer.Argument(help="The folder that grade-run wrote to.", metavar="STORE")
    ],
    weights: Annotated[
        str | None,
        typer.Option(metavar="S,D,P", help="Of the three dimensions; else the protocol's."),
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="Rank by best checkpoint, not by final one.")
    ] = False,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A system of the store to compare the others with."),
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="Show the paper's printed rows, marked, among yours.")
    ] = False,
    board_format: Annotated[
        BoardFormat, typer.Option("--format", help="What to print.")
    ] = BoardFormat.text,
    json: JsonOption = False,
) -> None:
    """Compare the systems of a store: ranks, standard errors, ties, and what the weights decide.

    Example: enso-jax leaderboard store --weights 0.4,0.3,0.3 --paper
    """
    from enso_jax.checkpoints import Store
    from enso_jax.leaderboard import paper_rows, standings

    if json and board_format not in (BoardFormat.text, BoardFormat.json):
        raise typer.BadParameter(f"--json and --format {board_format} exclude each other.")
    chosen, remark = _weights(weights)
    board = standings(Store(store), chosen, by="best" if best else "final", reference=reference)
    rows = paper_rows(board.weights) if paper else ()
    _print(board, rows, BoardFormat.json if json else board_format, remark)


def _weights(text: str | None) -> "tuple[Weights | None, list[str]]":
    """The weights to use, and what is to be said of them."""
    from enso_jax.leaderboard import normalised, parse_weights

    if text is None:
        return None, []
    given = parse_weights(text)
    weights = normalised(given)
    if weights == given:
        return weights, []
    used = ", ".join(f"{weight:.3f}" for weight in weights)
    return weights, [f"The weights {text} do not sum to 1: {used} are used."]


def _print(
    board: "Standings", paper: "Sequence[PaperRow]", chosen: BoardFormat, remark: list[str]
) -> None:
    from enso_jax.leaderboard import notes, to_csv, to_json, to_markdown

    match chosen:
        case BoardFormat.text:
            _show(board, paper, remark)
        case BoardFormat.markdown:
            sys.stdout.write("\n\n".join([to_markdown(board, paper).rstrip(), *remark]) + "\n")
        case BoardFormat.csv | BoardFormat.json:
            render = to_csv if chosen is BoardFormat.csv else to_json
            sys.stdout.write(render(board, paper))
            for note in [*remark, *notes(board, paper)]:
                print(note, file=sys.stderr)


def _show(board: "Standings", paper: "Sequence[PaperRow]", remark: list[str]) -> None:
    from enso_jax.leaderboard import board_table, crossing_table, heading, notes

    console = wide_console()
    console.print(heading(board), style="bold", markup=False, highlight=False, soft_wrap=True)
    for table in (board_table(board, paper), crossing_table(board)):
        if table.row_count:
            console.print(table)
    for note in [*remark, *notes(board, paper)]:
        console.print(note, markup=False, highlight=False, soft_wrap=True)
