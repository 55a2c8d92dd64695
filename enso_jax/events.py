"""What is an El Nino, and how many are there?

A winter is the December-February mean. It is El Nino (EN) where T_E or T_C exceeds
0.5 degC, eastern (EP) where T_E is the larger and central (CP) where not, extreme (EX)
where it is EN and T_E reaches 2.5 degC; La Nina (LN) where it is not EN and either is
below -0.5 degC. A run of two or more EN (LN) winters is one multi-year event, MYEN (MYLN).
"""

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
    return np.any(winter > protocol.event_threshold_degc, axis=-1)


def count_events(monthly: np.ndarray, protocol: Protocol) -> dict[str, np.ndarray]:
    """How many events of each type, ``(...)``, in ``(..., month, [T_C, T_E])`` from a January."""
    winter = winters(monthly)
    central, eastern = winter[..., 0], winter[..., 1]
    warm = el_nino(winter, protocol)
    cold = ~warm & np.any(winter < -protocol.event_threshold_degc, axis=-1)
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


def _second_of_run(winter: np.ndarray) -> np.ndarray:
    """Marks the second winter of every run of two or more: one mark for each such run."""
    before = np.zeros_like(winter)
    before[..., 1:] = winter[..., :-1]
    two_before = np.zeros_like(winter)
    two_before[..., 2:] = winter[..., :-2]
    return winter & before & ~two_before
