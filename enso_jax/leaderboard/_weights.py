"""How much does each dimension count, and when does that decide which of two is better?"""

import math
from collections.abc import Sequence
from typing import Final

from enso_jax.protocol import Protocol

#: Of the statistical, dynamical and predictive scores; they sum to 1.
Weights = tuple[float, float, float]
#: S, D, P of one model.
Three = tuple[float, float, float]

DIMENSIONS: Final = ("statistical", "dynamical", "predictive")
DEFAULT_WEIGHTS: Final[Weights] = Protocol().weights


class WeightsError(ValueError):
    """Weights that weigh nothing. Its text is one sentence."""


def parse_weights(text: str) -> Weights:
    """The weights in a text such as ``0.3,0.3,0.4``, as they are written.

    Raises:
        WeightsError: if it is not three non-negative numbers, one of them above zero.
    """
    try:
        statistical, dynamical, predictive = (float(part) for part in text.split(","))
    except ValueError as error:
        raise _weights_error(text) from error
    weights = statistical, dynamical, predictive
    # A negative number and NaN fail the first; infinities and what sums to one, the second.
    if not (all(weight >= 0 for weight in weights) and 0 < sum(weights) < math.inf):
        raise _weights_error(text)
    return weights


def normalised(weights: Weights) -> Weights:
    """The same proportions, with a sum of 1; unchanged where that is their sum already."""
    total = sum(weights)
    if math.isclose(total, 1.0, abs_tol=1e-9):
        return weights
    statistical, dynamical, predictive = (weight / total for weight in weights)
    return statistical, dynamical, predictive


def weighted(three: Three, weights: Weights) -> float:
    """The composite of S, D, P under weights (Equation 2 of the paper)."""
    return sum(weight * score for weight, score in zip(weights, three, strict=True))


def weighted_error(errors: Three, weights: Weights) -> float:
    """The standard error of that composite, if those of S, D, P are independent."""
    return math.hypot(*(weight * error for weight, error in zip(weights, errors, strict=True)))


def same_weights(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two weights are the same but for rounding."""
    return all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(one, other, strict=True))


def crossing_weight(one: Three, other: Three, dimension: str) -> float | None:
    """The weight on one dimension at which two models change places (Appendix C of the paper).

    The rest is split equally between the other two dimensions.

    Args:
        one, other: their S, D, P.
        dimension: one of `DIMENSIONS`.

    Returns:
        A weight between 0 and 1, neither included; None if there is none at which they
        change places, or they are equal at all.
    """
    differences = [a - b for a, b in zip(one, other, strict=True)]
    on_it = differences.pop(DIMENSIONS.index(dimension))
    on_the_rest = sum(differences) / 2
    # The lead is w on_it + (1 - w) on_the_rest: it changes sign if its two ends differ in theirs.
    if on_it * on_the_rest >= 0:
        return None
    return on_the_rest / (on_the_rest - on_it)


def _weights_error(text: str) -> WeightsError:
    return WeightsError(
        f"{text!r} are no weights: write three numbers of at least 0, not all of them 0, for "
        "statistics, dynamics and prediction, such as 0.3,0.3,0.4."
    )
