"""Does the model forecast years it has never seen better than persistence does?

Persistence keeps the start month's anomaly. For each temperature index, with RMSE
over the starts at each lead l (Equation 8), and over all starts and leads whose
target is beyond one standard deviation (Equation 9)::

    P_all = max(0, 1 - sum_l RMSE_model(l) / sum_l RMSE_persistence(l))
    P_ext = max(0, 1 - RMSE_model / RMSE_persistence)          over the extreme targets
    P     = 0.7 mean(P_all) + 0.3 mean(P_ext)                   means over T_C and T_E
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from enso_jax.protocol import Protocol
from enso_jax.scores._statistical import INDICES


@dataclasses.dataclass(frozen=True)
class PredictiveScore:
    """P with what it is made of.

    Attributes:
        score: P.
        components: ``all/T_C``, ``all/T_E``, ``extreme/T_C``, ``extreme/T_E``.
        by_lead: the curves against lead that explain it, by name and index:
            ``rmse/T_E``, ``persistence_rmse/T_E``, ``correlation/T_E``,
            ``persistence_correlation/T_E``, each ``(lead,)``. A correlation is NaN
            where a forecast does not vary.
    """

    score: float
    components: Mapping[str, float]
    by_lead: Mapping[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Targets:
    """What the forecasts are compared with, for one index.

    Attributes:
        observed: ``(start, lead)``, NaN where not measured.
        persistence: the start's own value at every lead, same shape.
        extreme: whether the target is beyond one standard deviation.
    """

    observed: np.ndarray
    persistence: np.ndarray
    extreme: np.ndarray


def forecast_starts(months: int, protocol: Protocol) -> int:
    """How many months of a held-out record of `months` have every lead inside it."""
    return max(0, months - protocol.forecast_leads)


def targets(series: np.ndarray, protocol: Protocol) -> Targets:
    """The targets of every start in the held-out ``(month,)`` record of one index."""
    starts = np.arange(forecast_starts(len(series), protocol))
    leads = np.arange(1, protocol.forecast_leads + 1)
    observed = series[starts[:, None] + leads]
    persistence = np.broadcast_to(series[starts, None], observed.shape)
    extreme = np.abs(observed) > np.nanstd(series, ddof=1)
    return Targets(observed, persistence, extreme)


def rmse(error: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Root-mean-square over the first axis, of the `valid` elements only; there must be some."""
    return np.sqrt((np.where(valid, error, 0.0) ** 2).sum(axis=0) / valid.sum(axis=0))


def correlation(forecast: np.ndarray, observed: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Correlation over starts at each lead, of the `valid` pairs; NaN where one does not vary."""
    values = np.full(forecast.shape[1], np.nan)
    for lead in range(forecast.shape[1]):
        x, y = forecast[valid[:, lead], lead], observed[valid[:, lead], lead]
        if x.std() > 0.0 and y.std() > 0.0:
            values[lead] = np.corrcoef(x, y)[0, 1]
    return values


def predictive_score(mean: np.ndarray, held_out: np.ndarray, protocol: Protocol) -> PredictiveScore:
    """Scores forecasts of T_C and T_E.

    Args:
        mean: ensemble means ``(start, lead, index)`` of T_C and T_E; NaN for a start that
            was not forecast.
        held_out: the record ``(month, index)``; NaN where not measured.
        protocol: leads, the smallest pool of extremes and its weight.

    Raises:
        ValueError: if no forecast at some lead has a target.
    """
    components, by_lead = {}, {}
    for index, name in enumerate(INDICES):
        forecast, target = mean[..., index], targets(held_out[:, index], protocol)
        # One mask for model and persistence, so that both are judged on the same targets.
        valid = np.isfinite(forecast) & np.isfinite(target.observed)
        if not valid.any(axis=0).all():
            raise ValueError(f"no forecast of {name} at some lead has a target to compare it with")
        model, reference = (
            rmse(values - target.observed, valid) for values in (forecast, target.persistence)
        )
        components[f"all/{name}"] = _skill(model.sum(), reference.sum())
        components[f"extreme/{name}"] = _extreme_skill(forecast, target, valid, protocol)
        by_lead |= {
            f"rmse/{name}": model,
            f"persistence_rmse/{name}": reference,
            f"correlation/{name}": correlation(forecast, target.observed, valid),
            f"persistence_correlation/{name}": correlation(
                target.persistence, target.observed, valid
            ),
        }
    everywhere = np.mean([components[f"all/{name}"] for name in INDICES])
    extreme = np.mean([components[f"extreme/{name}"] for name in INDICES])
    score = (1.0 - protocol.extreme_weight) * everywhere + protocol.extreme_weight * extreme
    return PredictiveScore(float(score), components, by_lead)


def _skill(model: float, reference: float) -> float:
    """``max(0, 1 - model / reference)``."""
    return float(max(0.0, 1.0 - model / reference))


def _extreme_skill(
    forecast: np.ndarray, target: Targets, valid: np.ndarray, protocol: Protocol
) -> float:
    """Equation 9; 0 where the pool is too small."""
    pool = (valid & target.extreme).ravel()
    if pool.sum() < protocol.extreme_pool_minimum:
        return 0.0
    model, reference = (
        rmse((values - target.observed).ravel(), pool) for values in (forecast, target.persistence)
    )
    return _skill(float(model), float(reference))
