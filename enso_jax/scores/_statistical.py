"""Does a long free run look like the observed climate?

Five groups - PDF, seasonal variance, ACF, events, diversity - from the two
temperature indices, combined so that no strength hides a weakness (Equation 6)::

    S = (mean of the groups + least of the groups) / 2
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from enso_jax.events import count_events, winters
from enso_jax.observations import Record
from enso_jax.protocol import EVENT_TYPES, Protocol
from enso_jax.scores import _curves as curves
from enso_jax.scores import _diversity as diversity
from enso_jax.scores._events import event_scores

#: The indices whose statistics are scored.
INDICES = ("T_C", "T_E")
CURVES = ("pdf", "seasonal_variance", "acf")


@dataclasses.dataclass(frozen=True)
class Climate:
    """The statistics of a record, or of a simulation's segments.

    Attributes:
        curves: by name (`CURVES`), ``(segment, index, point)``.
        counts: events of each type by segment, ``(segment,)``.
        points: strength (degC) and longitude (degrees east) of El Ninos, ``(event, 2)``.
        skewness: of each index's months, over all segments as one series. Not scored.
    """

    curves: Mapping[str, np.ndarray]
    counts: Mapping[str, np.ndarray]
    points: np.ndarray
    skewness: Mapping[str, float]


@dataclasses.dataclass(frozen=True)
class StatisticalScore:
    """S with all that it is made of.

    Attributes:
        score: S.
        groups: the five groups' scores.
        components: the scores below them: ``pdf/T_C``, ``events/EN``, ``diversity/order``, ...
    """

    score: float
    groups: Mapping[str, float]
    components: Mapping[str, float]


def pdf_grid(protocol: Protocol) -> np.ndarray:
    """The anomalies (degC) at which densities are compared."""
    return np.linspace(-protocol.pdf_limit_degc, protocol.pdf_limit_degc, protocol.pdf_points)


def simulated_climate(monthly: np.ndarray, record: Record, protocol: Protocol) -> Climate:
    """The statistics of a free run's ``(month, [T_C, T_E])``."""
    return _climate(
        curves.segments(monthly, protocol.segment_years),
        curves.segments(monthly, protocol.event_segment_years),
        monthly,
        record,
        protocol,
    )


def observed_climate(record: Record, protocol: Protocol) -> Climate:
    """The statistics of the long record, each index with its own mean removed.

    The counts are the record's own published ones, and its peaks those found in the
    gridded field where the record has them.
    """
    anomalies = record.long.values - record.long.values.mean(axis=0)
    whole = anomalies[None]
    climate = _climate(whole, whole, anomalies, record, protocol)
    counts = {name: np.array([record.event_counts[name]]) for name in EVENT_TYPES}
    points = climate.points if record.peaks is None else record.peaks
    return dataclasses.replace(climate, counts=counts, points=points)


def statistical_score(
    simulated: Climate, observed: Climate, protocol: Protocol
) -> StatisticalScore:
    """Compares a simulated climate with the observed one."""
    components = _curve_components(simulated, observed, protocol)
    mean_counts = {name: float(counts.mean()) for name, counts in simulated.counts.items()}
    observed_counts = {name: int(counts[0]) for name, counts in observed.counts.items()}
    by_type = event_scores(mean_counts, observed_counts, protocol.count_tolerance)
    components |= {f"events/{name}": value for name, value in by_type.items()}
    components["diversity/order"] = diversity.order_score(simulated.points, protocol)
    components["diversity/region"] = diversity.region_score(
        simulated.points, observed.points, protocol.region_probability
    )
    groups = {
        group: float(np.mean([v for k, v in components.items() if k.startswith(f"{group}/")]))
        for group in (*CURVES, "events", "diversity")
    }
    score = 0.5 * (np.mean(list(groups.values())) + min(groups.values()))
    return StatisticalScore(float(score), groups, components)


def _climate(segments, event_segments, monthly, record: Record, protocol: Protocol) -> Climate:
    series = np.swapaxes(segments, -1, -2)
    by_name = {
        "pdf": curves.pdf(series, pdf_grid(protocol)),
        "seasonal_variance": curves.seasonal_variance(series),
        "acf": curves.acf(series, protocol.acf_max_lag),
    }
    counts = count_events(event_segments, protocol)
    longitude = record.profile.longitude
    points = diversity.event_points(winters(monthly), record.profile, longitude, protocol)
    skewness = curves.skewness(monthly.T)
    return Climate(
        by_name, counts, points, {name: float(skewness[i]) for i, name in enumerate(INDICES)}
    )


def _curve_components(
    simulated: Climate, observed: Climate, protocol: Protocol
) -> dict[str, float]:
    components = {}
    for name in CURVES:
        for index, label in enumerate(INDICES):
            mean = simulated.curves[name].mean(axis=0)[index]
            target = observed.curves[name][0, index]
            weights = curves.pdf_weights(mean, target) if name == "pdf" else None
            components[f"{name}/{label}"] = curves.curve_score(
                mean, target, protocol.curve_tolerance, weights
            )
    return components
