"""What does each replicate of the experiments score?"""

import dataclasses

import numpy as np

from enso_jax.grading._runs import Experiments
from enso_jax.observations import Record
from enso_jax.protocol import Protocol
from enso_jax.scores import (
    INDICES,
    TESTS,
    Climate,
    DynamicalScore,
    PredictiveScore,
    StatisticalScore,
    dynamical_score,
    predictive_score,
    simulated_climate,
    statistical_score,
)
from enso_jax.state import NAMES

_TEMPERATURES = [NAMES.index(name) for name in INDICES]


@dataclasses.dataclass(frozen=True)
class ReplicateScores:
    """The three dimension scores of one replicate, and the climate that S was computed from."""

    climate: Climate
    statistical: StatisticalScore
    dynamical: DynamicalScore
    predictive: PredictiveScore


def score_replicates(
    experiments: Experiments, record: Record, observed: Climate, protocol: Protocol
) -> list[ReplicateScores]:
    """The scores of every replicate, in order; all runs must be finite."""
    monthly = np.asarray(experiments.free_run.monthly)[..., _TEMPERATURES]
    smoothed = np.asarray(experiments.smoothing.smoothed)
    forecasts = np.asarray(experiments.forecasts.mean)[..., _TEMPERATURES]
    held_out = record.held_out.values[:, _TEMPERATURES]
    scores = []
    for number in range(len(monthly)):
        climate = simulated_climate(monthly[number], record, protocol)
        by_test = dict(zip(TESTS, smoothed[number], strict=True))
        scores.append(
            ReplicateScores(
                climate,
                statistical_score(climate, observed, protocol),
                dynamical_score(by_test, record.development.values, protocol),
                predictive_score(forecasts[number], held_out, protocol),
            )
        )
    return scores
