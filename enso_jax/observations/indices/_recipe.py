"""What is each index the mean of?

The paper's Appendix A, as data: changed by `dataclasses.replace`, it is another recipe, and
some of the others are known mistakes (`enso_jax.observations.check`).
"""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from enso_jax.observations.fields import Box
from enso_jax.observations.indices._weights import Weighting, cosine_weights

#: The field from which each index is made.
FIELD_OF: Final = MappingProxyType(
    {"T_C": "sst", "T_E": "sst", "h_W": "pottmp", "u": "ucur", "tau": "uwnd"}
)

_CENTRAL: Final = Box(160.0, 210.0)
_EASTERN: Final = Box(210.0, 270.0)
_WESTERN: Final = Box(120.0, 180.0)
_BOXES: Final = MappingProxyType(
    {"T_C": _CENTRAL, "T_E": _EASTERN, "h_W": _WESTERN, "u": _CENTRAL, "tau": _WESTERN}
)


def as_they_are(values: np.ndarray) -> np.ndarray:
    """Missing values stay missing."""
    return values


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How indices are made. The defaults are the paper's.

    Attributes:
        boxes: the box of each index.
        weighting: how much each cell counts.
        missing: what becomes of missing values before anything is computed.
        isotherm_degc: whose depth h_W is.
        current_to_m: the deepest level of u.
        wind_hpa: the level of tau.
        baseline_years: first and last year of the climatology that is removed.
    """

    boxes: Mapping[str, Box] = dataclasses.field(default_factory=lambda: _BOXES)
    weighting: Weighting = cosine_weights
    missing: Callable[[np.ndarray], np.ndarray] = as_they_are
    isotherm_degc: float = 20.0
    current_to_m: float = 55.0
    wind_hpa: float = 850.0
    baseline_years: tuple[int, int] = (1981, 2010)
