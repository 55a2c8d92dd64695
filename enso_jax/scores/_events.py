"""Does the model have the observed mix of events?

A winter is the December-February mean. It is El Nino (EN) where T_E or T_C exceeds
0.5 degC, eastern (EP) where T_E is the larger and central (CP) where not, extreme (EX)
where it is EN and T_E reaches 2.5 degC; La Nina (LN) where it is not EN and either is
below -0.5 degC. A run of two or more EN (LN) winters is one multi-year event, MYEN (MYLN).
With m the mean simulated and o the observed count (Equation 4 of the paper)::

    G = mean over types of exp(-((m - o) / (0.2 o))^2 / 2)
"""

from collections.abc import Mapping

import numpy as np

from enso_jax.protocol import EVENT_TYPES, Protocol
from enso_jax.state import MONTHS_PER_YEAR

_DECEMBER = 11
_WINTER_MONTHS = 3


def winters(monthly: np.ndarray) -> np.ndarray:
    """December-February means, ``(..., winter, index)``, of ``(..., month, index)`` from a January.

    Winter w begins in December of year w; the last December has no winter.
    """
    *batch, months, indices = monthly.shape
    from_december = monthly[..., _DECEMBER : months - 1, :]
    years = from_december.reshape(*batch, -1, MONTHS_PER_YEAR, indices)
    return years[..., :_WINTER_MONTHS, :].mean(axis=-2)


def el_nino(winter: np.ndarray, protocol: Protocol) -> np.ndarray:
    """Which winters ``(..., winter, [T_C, T_E])`` are El Nino."""
    return (winter > protocol.event_threshold_degc).any(axis=-1)


def count_events(monthly: np.ndarray, protocol: Protocol) -> dict[str, np.ndarray]:
    """How many events of each type, ``(...)``, in ``(..., month, [T_C, T_E])`` from a January."""
    winter = winters(monthly)
    central, eastern = winter[..., 0], winter[..., 1]
    warm = el_nino(winter, protocol)
    cold = ~warm & (winter < -protocol.event_threshold_degc).any(axis=-1)
    masks = {
        "EN": warm,
        "EP": warm & (eastern > central),
        "CP": warm & (eastern <= central),
        "EX": warm & (eastern >= protocol.extreme_threshold_degc),
        "MYEN": _second_of_run(warm),
        "LN": cold,
        "MYLN": _second_of_run(cold),
    }
    return {name: masks[name].sum(axis=-1) for name in EVENT_TYPES}


def event_scores(
    mean_counts: Mapping[str, float], observed: Mapping[str, int], tolerance: float
) -> dict[str, float]:
    """The contribution of each type to Equation 4, 1 where the counts agree.

    A type that was never observed is given the tolerance of one that was seen once.
    """
    return {
        name: float(np.exp(-0.5 * ((mean_counts[name] - count) / (tolerance * max(count, 1))) ** 2))
        for name, count in observed.items()
    }


def _second_of_run(winter: np.ndarray) -> np.ndarray:
    """Marks the second winter of every run of two or more: one mark for each such run."""
    before = np.zeros_like(winter)
    before[..., 1:] = winter[..., :-1]
    two_before = np.zeros_like(winter)
    two_before[..., 2:] = winter[..., :-2]
    return winter & before & ~two_before
