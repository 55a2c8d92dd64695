"""What does a reader of the board see, line by line, and what must they know beside it?

The text table and the Markdown one are made of the same cells. The paper's rows stand where
their scores put them, marked as the paper's and without a rank.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from enso_jax.grading import Estimate
from enso_jax.leaderboard._paper import PaperRow
from enso_jax.leaderboard._standings import CheckpointScores, Crossing, Standing, Standings
from enso_jax.leaderboard._weights import DEFAULT_WEIGHTS, DIMENSIONS, same_weights
from enso_jax.wording import counted

BOARD_HEADER: Final = ("", "system", "S", "D", "P", "final", "best", "best at (h:mm)")
CROSSING_HEADER: Final = ("system", "changes places with", "S", "D", "P")
_NO_CROSSING: Final = "-"


def heading(board: Standings) -> str:
    """What the board is of, in one line."""
    settings = board.settings
    weights = ", ".join(
        f"{letter} {weight:.3f}" for letter, weight in zip("SDP", board.weights, strict=True)
    )
    return (
        f"{counted(len(board.rows), 'run')} on {settings.observations_name}, "
        f"{counted(settings.replicates, 'replicate')}, seed {settings.seed}, "
        f"by {board.by} checkpoint; weights {weights}"
    )


def board_lines(board: Standings, paper: Sequence[PaperRow] = ()) -> list[tuple[str, ...]]:
    """The cells of the board below `BOARD_HEADER`, the best first.

    S, D and P are of the checkpoint that ranks.
    """
    lines = [(board.ranked(row).composite.mean, _own_line(board, row)) for row in board.rows]
    for row in paper:
        composite = row.final if board.by == "final" else row.best
        lines.append((-1.0 if composite is None else composite, _paper_line(row)))
    # The sort is stable: of equal scores the board's own come first, in their order.
    return [cells for _, cells in sorted(lines, key=lambda line: -line[0])]


def crossing_lines(board: Standings) -> list[tuple[str, ...]]:
    """The cells of the table of crossings below `CROSSING_HEADER`.

    First each system and the next one below, then each and the reference.
    """
    pairs = [(row.label, row.crossing_below) for row in board.rows]
    pairs += [(row.label, row.crossing_reference) for row in board.rows]
    lines = [_crossing_line(label, crossing) for label, crossing in pairs if crossing is not None]
    return list(dict.fromkeys(lines))


def notes(board: Standings, paper: Sequence[PaperRow] = ()) -> Iterator[str]:
    """What a reader must know beside the table, a sentence or two each."""
    if board.settings.observations_kind == "simulated":
        yield (
            "These scores are against a simulated record, the nature run, not against the "
            "observed El Nino."
        )
    below_the_first = [row.tied_with_above for row in board.rows[1:]]
    if True in below_the_first:
        yield (
            "=: tied with the ranked one above it, from which it differs by no more than two "
            "standard errors of the difference."
        )
    if None in below_the_first:
        yield (
            "Ties cannot be judged: one replicate has no standard errors; grade the runs with "
            "--replicates 8."
        )
    yield from _invalid(board)
    if board.reference is not None:
        yield _against_reference(board)
    if crossing_lines(board):
        yield (
            "Changes places: when this weight is on one of S, D and P, and the rest is split "
            f"equally between the other two; {_NO_CROSSING} where there is no such weight."
        )
    if board.by == "best":
        yield (
            "A best checkpoint is chosen by these scores themselves, which flatters it: the "
            "system could not have known."
        )
    yield from _about_paper(board, paper)
    for run in board.left_out:
        yield f"Left out: {run.system} ({run.run}), because {run.why}."


def _own_line(board: Standings, row: Standing) -> tuple[str, ...]:
    return (
        f"{row.rank} =" if row.tied_with_above else f"{row.rank}",
        row.label,
        *(f"{score:.3f}" for score in board.ranked(row).three()),
        _composite(row.final),
        _composite(row.best),
        _moment(row.best),
    )


def _paper_line(row: PaperRow) -> tuple[str, ...]:
    three = (f"{score:.3f}" for score in (row.statistical, row.dynamical, row.predictive))
    best = "" if row.best is None else f"{row.best:.3f}"
    return ("", f"{row.system} (paper)", *three, f"{row.final:.3f}", best, "")


def _crossing_line(label: str, crossing: Crossing) -> tuple[str, ...]:
    weights = (getattr(crossing, name) for name in DIMENSIONS)
    cells = (_NO_CROSSING if weight is None else f"{weight:.3f}" for weight in weights)
    return label, crossing.other, *cells


def _composite(scores: CheckpointScores) -> str:
    if scores.outcome == "invalid":
        return "0, invalid"
    return _with_error(scores.composite)


def _with_error(estimate: Estimate) -> str:
    error = estimate.standard_error
    return f"{estimate.mean:.3f}" if error is None else f"{estimate.mean:.3f} ± {error:.3f}"


def _moment(scores: CheckpointScores) -> str:
    if scores.eligible_s is None:
        return scores.checkpoint
    hours, minutes = divmod(round(scores.eligible_s / 60), 60)
    return f"{scores.checkpoint}, {hours}:{minutes:02}"


def _invalid(board: Standings) -> Iterator[str]:
    for row in board.rows:
        if row.final.outcome == "invalid":
            yield (
                f"{row.label}: its final checkpoint {row.final.checkpoint} is invalid and "
                f"scores 0. {row.final.reason}"
            )


def _against_reference(board: Standings) -> str:
    (reference,) = (row for row in board.rows if row.label == board.reference)
    score = board.ranked(reference).composite.mean
    ahead = sum(board.ranked(row).composite.mean > score for row in board.rows)
    return f"{ahead} of {len(board.rows) - 1} score higher than {board.reference}."


def _about_paper(board: Standings, paper: Sequence[PaperRow]) -> Iterator[str]:
    if not paper:
        return
    yield (
        "(paper): printed in the paper, one seed, on the measured record; S, D and P are of the "
        "final checkpoint."
    )
    if board.settings.observations_kind == "simulated":
        yield "The paper's rows are not to be compared with scores on a simulated record."
    if not same_weights(board.weights, DEFAULT_WEIGHTS):
        yield (
            "Under these weights the paper's composites are computed from its printed S, D and P, "
            "which are not printed for best checkpoints."
        )
