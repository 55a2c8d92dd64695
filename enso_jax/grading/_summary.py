"""What do the replicates say together? Means, standard errors and ranges."""

from collections.abc import Mapping, Sequence

import numpy as np

from enso_jax.grading._replicates import ReplicateScores
from enso_jax.grading._result import (
    Detail,
    DimensionScores,
    DynamicalDetail,
    Estimate,
    EventCount,
    PredictiveDetail,
    Skewness,
    StatisticalDetail,
)
from enso_jax.grading._runs import Experiments
from enso_jax.protocol import EVENT_TYPES, Protocol
from enso_jax.scores import TESTS, Climate, composite_score
from enso_jax.state import NAMES


def dimension_means(scores: Sequence[ReplicateScores], protocol: Protocol) -> DimensionScores:
    """The mean of each dimension and of the composite over the replicates."""
    return _dimensions(_dimension_table(scores, protocol).mean(axis=0))


def dimension_errors(
    scores: Sequence[ReplicateScores], protocol: Protocol
) -> DimensionScores | None:
    """The standard errors of those means; None for a single replicate."""
    if len(scores) == 1:
        return None
    return _dimensions(_standard_error(_dimension_table(scores, protocol)))


def replicate_scores(
    scores: Sequence[ReplicateScores], protocol: Protocol
) -> tuple[DimensionScores, ...]:
    """Each dimension and the composite of every replicate."""
    return tuple(_dimensions(row) for row in _dimension_table(scores, protocol))


def detail(
    scores: Sequence[ReplicateScores], experiments: Experiments, observed: Climate
) -> Detail:
    """Everything below the dimension scores."""
    return Detail(
        statistical=StatisticalDetail(
            groups=_estimates([replicate.statistical.groups for replicate in scores]),
            components=_estimates([replicate.statistical.components for replicate in scores]),
            event_counts=_event_counts([replicate.climate for replicate in scores], observed),
            skewness=_skewness([replicate.climate for replicate in scores], observed),
        ),
        dynamical=DynamicalDetail(
            components=_estimates([replicate.dynamical.components for replicate in scores]),
            innovation_variance=_innovation_variance(experiments),
        ),
        predictive=PredictiveDetail(
            components=_estimates([replicate.predictive.components for replicate in scores]),
            by_lead=_mean_curves([replicate.predictive.by_lead for replicate in scores]),
            starts=int(np.isfinite(experiments.forecasts.mean[0]).all(axis=(1, 2)).sum()),
        ),
    )


def _dimension_table(scores: Sequence[ReplicateScores], protocol: Protocol) -> np.ndarray:
    """S, D, P and the composite of each replicate, ``(replicate, 4)``."""
    rows = []
    for replicate in scores:
        three = replicate.statistical.score, replicate.dynamical.score, replicate.predictive.score
        rows.append((*three, composite_score(*three, protocol)))
    return np.array(rows)


def _dimensions(row: np.ndarray) -> DimensionScores:
    statistical, dynamical, predictive, composite = row
    return DimensionScores(
        statistical=statistical, dynamical=dynamical, predictive=predictive, composite=composite
    )


def _standard_error(table: np.ndarray) -> np.ndarray:
    """Of the mean over the first axis."""
    return table.std(axis=0, ddof=1) / np.sqrt(len(table))


def _estimate(values: np.ndarray) -> Estimate:
    error = float(_standard_error(values)) if len(values) > 1 else None
    return Estimate(mean=values.mean(), standard_error=error)


def _estimates(replicates: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    return {
        name: _estimate(np.array([scores[name] for scores in replicates])) for name in replicates[0]
    }


def _event_counts(climates: Sequence[Climate], observed: Climate) -> dict[str, EventCount]:
    """Mean and 2.5 to 97.5 percentile of the counts over the segments of all replicates."""
    counts = {}
    for name in EVENT_TYPES:
        simulated = np.concatenate([climate.counts[name] for climate in climates])
        low, high = np.percentile(simulated, [2.5, 97.5])
        counts[name] = EventCount(
            mean=simulated.mean(), low=low, high=high, observed=int(observed.counts[name][0])
        )
    return counts


def _skewness(climates: Sequence[Climate], observed: Climate) -> dict[str, Skewness]:
    simulated = _estimates([climate.skewness for climate in climates])
    return {
        name: Skewness(**dict(estimate), observed=observed.skewness[name])
        for name, estimate in simulated.items()
    }


def _innovation_variance(experiments: Experiments) -> dict[str, Estimate]:
    """Mean square of the normalised innovations of what each test assimilated."""
    innovation = np.asarray(experiments.smoothing.innovation)
    return {
        f"{test}/{name}": _estimate(
            np.nanmean(innovation[:, number, :, NAMES.index(name)] ** 2, axis=-1)
        )
        for number, test in enumerate(TESTS)
        for name in TESTS[test]
    }


def _mean_curves(curves: Sequence[Mapping[str, np.ndarray]]) -> dict[str, list[float | None]]:
    """The replicates' mean of each curve; None where a replicate's is undefined."""
    means = {name: np.mean([curve[name] for curve in curves], axis=0) for name in curves[0]}
    return {
        name: [float(value) if np.isfinite(value) else None for value in mean]
        for name, mean in means.items()
    }
