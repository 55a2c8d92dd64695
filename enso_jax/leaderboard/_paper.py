"""What does the paper print of its twelve systems and its reference model?

Composites of final and best checkpoints are from Table 4, S, D and P of the final ones from
Table 12 and Section 4 of "SciExam for ENSO" (arXiv:2610.10513): one seed each, on the
measured record, to three decimals.
"""

import dataclasses
from typing import Final

from enso_jax.leaderboard._weights import DEFAULT_WEIGHTS, Weights, same_weights, weighted


@dataclasses.dataclass(frozen=True)
class PaperRow:
    """Printed scores of one system.

    Attributes:
        system: its name in the paper.
        statistical, dynamical, predictive: of its final checkpoint.
        final: composite of its final checkpoint.
        best: composite of its best checkpoint; None where it is not known.
    """

    system: str
    statistical: float
    dynamical: float
    predictive: float
    final: float
    best: float | None


PAPER: Final = (
    PaperRow("Claude Fable 5.1", 0.715, 0.639, 0.274, 0.515, 0.531),
    PaperRow("Kimi K3", 0.620, 0.570, 0.305, 0.479, 0.500),
    PaperRow("GPT-5.6-Sol", 0.554, 0.515, 0.306, 0.443, 0.466),
    PaperRow("GPT-6 Astra", 0.530, 0.629, 0.237, 0.442, 0.475),
    PaperRow("Claude Opus 5", 0.548, 0.589, 0.247, 0.440, 0.508),
    PaperRow("GPT-5.5", 0.412, 0.595, 0.252, 0.403, 0.404),
    PaperRow("Reference model", 0.727, 0.323, 0.157, 0.378, 0.378),
    PaperRow("Gemini 3.8 Flash", 0.406, 0.503, 0.241, 0.369, 0.394),
    PaperRow("DeepSeek V4.1 Flash", 0.418, 0.508, 0.183, 0.351, 0.452),
    PaperRow("DeepSeek V4 Pro", 0.285, 0.530, 0.251, 0.345, 0.345),
    PaperRow("MiniMax-M3", 0.231, 0.326, 0.136, 0.222, 0.238),
    PaperRow("GLM-5.2", 0.222, 0.261, 0.108, 0.188, 0.228),
    PaperRow("Qwen3-Max", 0.118, 0.062, 0.000, 0.054, 0.120),
)


def paper_rows(weights: Weights = DEFAULT_WEIGHTS) -> tuple[PaperRow, ...]:
    """The paper's rows under weights: as printed under its own, else computed from S, D and P.

    The best checkpoint's S, D and P are not printed, so its composite is known under the
    paper's own weights alone.
    """
    if same_weights(weights, DEFAULT_WEIGHTS):
        return PAPER
    return tuple(
        dataclasses.replace(
            row,
            final=weighted((row.statistical, row.dynamical, row.predictive), weights),
            best=None,
        )
        for row in PAPER
    )
