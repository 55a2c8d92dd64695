"""Which mistakes can be told from an index alone?

Those that leave a signature in the difference d(t) = candidate(t) - reference(t), or in the
candidate c(t) itself, whatever the fields are. Each takes candidate and reference and gives
what the candidate would be if the mistake, and nothing else, had been made::

    flipped sign      c = -r
    month shift       c(t) = r(t + k), k up to a year either way
    baseline          d depends on the calendar month only
    detrended         d is a straight line in time
    fill values       c = a r, 0 < a < 1: part of the box held one constant
    units             c = a r, a a power of ten from .001 to 1000
"""

import dataclasses
from collections.abc import Callable
from typing import Final

import numpy as np

from enso_jax.state import MONTHS_PER_YEAR

#: Both (months,) without NaN, from a January; the index's values if the mistake was made.
Signature = Callable[[np.ndarray, np.ndarray], np.ndarray]
_KELVIN: Final = 273.15


@dataclasses.dataclass(frozen=True)
class SeriesPitfall:
    """A mistake that an index shows by itself.

    Attributes:
        name: of the mistake, as it is known.
        says: what was done, in a sentence without its full stop.
        signature: as above.
        freedom: how many numbers it takes from the candidate; fewer is the likelier cause.
    """

    name: str
    says: str
    signature: Signature
    freedom: int


def flipped(candidate: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The opposite sign."""
    return -reference


def shifted_by(months: int) -> Signature:
    """Each value `months` too early; the months that the reference lacks are as they are."""

    def signature(candidate: np.ndarray, reference: np.ndarray) -> np.ndarray:
        shifted = candidate.copy()
        source = np.arange(reference.size) + months
        inside = (source >= 0) & (source < reference.size)
        shifted[inside] = reference[source[inside]]
        return shifted

    return signature


def other_climatology(candidate: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The reference plus what depends on the calendar month only."""
    difference = candidate - reference
    monthly = difference.reshape(-1, MONTHS_PER_YEAR).mean(axis=0)
    return reference + np.tile(monthly, reference.size // MONTHS_PER_YEAR)


def kelvin(candidate: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The same, if the candidate is in kelvin and its climatology was not removed."""
    if candidate.mean() < _KELVIN / 2:
        return np.full_like(candidate, np.inf)
    return other_climatology(candidate, reference)


def other_line(candidate: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The reference plus a straight line in time."""
    time = np.arange(reference.size)
    return reference + np.polyval(np.polyfit(time, candidate - reference, 1), time)


def _ratio(candidate: np.ndarray, reference: np.ndarray) -> float:
    return float(np.sum(candidate * reference) / np.sum(reference**2))


def diluted(candidate: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """A part of the reference."""
    ratio = _ratio(candidate, reference)
    return ratio * reference if 0 < ratio < 1 else np.full_like(candidate, np.inf)


def rescaled(candidate: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """A power of ten times the reference."""
    ratio = _ratio(candidate, reference)
    power = np.round(np.log10(ratio)) if ratio > 0 else 0.0
    return 10.0**power * reference if power else np.full_like(candidate, np.inf)


SERIES_PITFALLS: Final = (
    SeriesPitfall("flipped sign", "the sign is the opposite one", flipped, 0),
    *(
        SeriesPitfall(
            "month shift",
            f"every value stands {abs(k)} months too {'early' if k > 0 else 'late'}",
            shifted_by(k),
            0,
        )
        for shift in range(1, MONTHS_PER_YEAR + 1)
        for k in (shift, -shift)
    ),
    SeriesPitfall("units", "it is in other units, by a power of ten", rescaled, 0),
    SeriesPitfall(
        "fill values",
        "part of the box is a constant, such as a fill value or 0 on land",
        diluted,
        1,
    ),
    SeriesPitfall(
        "detrended",
        "a straight line was taken away, and only the climatology may be",
        other_line,
        2,
    ),
    SeriesPitfall("Kelvin", "it is in kelvin, and its climatology was not removed", kelvin, 11),
    SeriesPitfall(
        "wrong baseline",
        "another climatology was removed, or none; it is that of 1981-2010",
        other_climatology,
        12,
    ),
)
