"""How does a board leave the program? As CSV, as Markdown, as JSON."""

import csv
import dataclasses
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from enso_jax.leaderboard._lines import (
    BOARD_HEADER,
    CROSSING_HEADER,
    board_lines,
    crossing_lines,
    heading,
    notes,
)
from enso_jax.leaderboard._paper import PaperRow
from enso_jax.leaderboard._standings import CheckpointScores, Crossing, Standing, Standings
from enso_jax.leaderboard._weights import DIMENSIONS

_SCORES: Final = (*DIMENSIONS, "composite")
#: The columns of the CSV; a cell is empty where a value is not known.
CSV_COLUMNS: Final = (
    "source",
    "rank",
    "system",
    "condition",
    "run",
    "tied_with_above",
    *(
        f"{which}_{what}"
        for which in ("final", "best")
        for what in (
            "checkpoint",
            "eligible_s",
            "outcome",
            *(f"{name}{kind}" for name in _SCORES for kind in ("", "_se")),
        )
    ),
    *(
        f"{which}_{what}"
        for which in ("below", "reference")
        for what in ("system", *(f"{name}_weight" for name in DIMENSIONS))
    ),
)


def to_csv(board: Standings, paper: Sequence[PaperRow] = ()) -> str:
    """One line for each run of the board, then one for each of the paper's rows.

    `source` says which it is: store or paper. Scores are not rounded.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_own_cells(row) for row in board.rows)
    writer.writerows(_paper_cells(row) for row in paper)
    return text.getvalue()


def to_markdown(board: Standings, paper: Sequence[PaperRow] = ()) -> str:
    """The tables and the notes that are read on a terminal."""
    parts = [_plain(heading(board)), _markdown_table(BOARD_HEADER, board_lines(board, paper))]
    if crossings := crossing_lines(board):
        parts.append(_markdown_table(CROSSING_HEADER, crossings))
    parts += map(_plain, notes(board, paper))
    return "\n\n".join(parts) + "\n"


def to_json(board: Standings, paper: Sequence[PaperRow] = ()) -> str:
    """The fields of `Standings`, and the paper's rows under `paper`. Never NaN."""
    content = board.model_dump(mode="json")
    content["paper"] = [dataclasses.asdict(row) for row in paper]
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _own_cells(row: Standing) -> Mapping[str, object]:
    return {
        "source": "store",
        "rank": row.rank,
        "system": row.system,
        "condition": row.condition,
        "run": row.run,
        "tied_with_above": {True: "yes", False: "no", None: ""}[row.tied_with_above],
        **_checkpoint_cells("final", row.final),
        **_checkpoint_cells("best", row.best),
        **_crossing_cells("below", row.crossing_below),
        **_crossing_cells("reference", row.crossing_reference),
    }


def _checkpoint_cells(which: str, scores: CheckpointScores) -> Mapping[str, object]:
    cells: dict[str, object] = {
        f"{which}_{name}": getattr(scores, name) for name in ("checkpoint", "eligible_s", "outcome")
    }
    for name in _SCORES:
        estimate = getattr(scores, name)
        cells[f"{which}_{name}"] = estimate.mean
        cells[f"{which}_{name}_se"] = estimate.standard_error
    return cells


def _crossing_cells(which: str, crossing: Crossing | None) -> Mapping[str, object]:
    if crossing is None:
        return {}
    weights = {f"{which}_{name}_weight": getattr(crossing, name) for name in DIMENSIONS}
    return {f"{which}_system": crossing.other, **weights}


def _paper_cells(row: PaperRow) -> Mapping[str, object]:
    final = {f"final_{name}": getattr(row, name) for name in DIMENSIONS}
    composites = {"final_composite": row.final, "best_composite": row.best}
    return {"source": "paper", "system": row.system, **final, **composites}


def _markdown_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *(map(_plain, cells) for cells in lines)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _plain(text: str) -> str:
    """`text` without a meaning in Markdown: a bar would end a cell, a bracket begin a tag."""
    for letter in r"\`*_<[|":
        text = text.replace(letter, f"\\{letter}")
    return text
