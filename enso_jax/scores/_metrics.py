"""What does each number mean, and which value is best?

Every score lies between 0 and 1, higher is better, and 1 is perfect; what differs is
what 0 stands for. Names are the keys of a result: a dimension, a group, or
``group/component``.
"""

import dataclasses
from collections.abc import Mapping
from typing import Final


@dataclasses.dataclass(frozen=True)
class Metric:
    """One kind of score.

    Attributes:
        title: for tables and figures.
        perfect: the model of which it is 1.
        worthless: the model of which it is 0.
    """

    title: str
    perfect: str
    worthless: str


METRICS: Final[Mapping[str, Metric]] = {
    "composite": Metric("Composite", "perfect in all three", "worthless in all three"),
    "statistical": Metric(
        "Statistical properties", "all groups perfect", "a group of 0 halves it, and more"
    ),
    "dynamical": Metric(
        "Dynamical consistency", "all reconstructions exact", "none better than the mean"
    ),
    "predictive": Metric("Predictive skill", "all forecasts exact", "no better than persistence"),
    "pdf": Metric("Probability density", "the observed density", "uncorrelated, or far from it"),
    "seasonal_variance": Metric(
        "Seasonal variance", "the observed variances", "uncorrelated, or far from them"
    ),
    "acf": Metric("Autocorrelation", "the observed one", "uncorrelated, or far from it"),
    "events": Metric("Event counts", "the observed counts", "counts off by many times 20%"),
    "diversity": Metric("Strength and location", "both criteria met", "neither"),
    "diversity/order": Metric(
        "eastern events stronger", "by 0.5 degC or more", "not stronger, or none on one side"
    ),
    "diversity/region": Metric("observed events within 95% region", "all inside", "all outside"),
    "A": Metric("reconstructed from T_C, T_E", "exact", "no better than the record's mean"),
    "B": Metric("reconstructed from h_W, u, tau", "exact", "no better than the record's mean"),
    "all": Metric("over all targets", "exact", "no better than persistence"),
    "extreme": Metric("over extreme targets", "exact", "no better than persistence"),
}
