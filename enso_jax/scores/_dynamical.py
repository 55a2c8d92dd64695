"""Are the variables coupled as observed?

Test A assimilates T_C and T_E and reconstructs h_W, u and tau; test B the reverse.
Each reconstruction is compared with the withheld record by the Nash-Sutcliffe
efficiency (Equation 7), and D is the mean of the five::

    NSE = max(0, 1 - sum_t (estimate - record)^2 / sum_t (record - mean record)^2)
"""

import dataclasses
from collections.abc import Mapping
from typing import Final

import numpy as np

from enso_jax.protocol import Protocol
from enso_jax.state import NAMES

#: Which variables each test assimilates; the others it reconstructs.
TESTS: Final[Mapping[str, tuple[str, ...]]] = {"A": ("T_C", "T_E"), "B": ("h_W", "u", "tau")}


@dataclasses.dataclass(frozen=True)
class DynamicalScore:
    """D with the efficiency of each reconstruction, ``A/h_W`` to ``B/T_E``."""

    score: float
    components: Mapping[str, float]


def withheld(test: str) -> tuple[str, ...]:
    """The variables that `test` reconstructs."""
    return tuple(name for name in NAMES if name not in TESTS[test])


def assimilated(values: np.ndarray, test: str) -> np.ndarray:
    """`values` ``(month, variable)`` as `test` may see them: NaN where withheld."""
    seen = np.array([name in TESTS[test] for name in NAMES])
    return np.where(seen, values, np.nan)


def observation_error(values: np.ndarray, protocol: Protocol) -> np.ndarray:
    """Standard deviation of the observation error of each variable ``(variable,)``.

    A fixed share of the index's own standard deviation over the months that are not NaN.
    """
    return protocol.observation_error * np.nanstd(values, axis=0, ddof=1)


def nse(estimate: np.ndarray, record: np.ndarray) -> float:
    """Nash-Sutcliffe efficiency, not below 0, over the months in which `record` is not NaN."""
    valid = np.isfinite(record)
    estimate, record = estimate[valid], record[valid]
    error = ((estimate - record) ** 2).sum()
    return float(max(0.0, 1.0 - error / ((record - record.mean()) ** 2).sum()))


def dynamical_score(
    smoothed: Mapping[str, np.ndarray], record: np.ndarray, protocol: Protocol
) -> DynamicalScore:
    """Compares each test's smoothed means ``(month, variable)`` with `record`.

    `record` has the same shape and NaN where nothing was measured.
    """
    scored = slice(protocol.smoother_spin_up_months, None)
    components = {
        f"{test}/{name}": nse(
            smoothed[test][scored, NAMES.index(name)], record[scored, NAMES.index(name)]
        )
        for test in TESTS
        for name in withheld(test)
    }
    return DynamicalScore(float(np.mean(list(components.values()))), components)
