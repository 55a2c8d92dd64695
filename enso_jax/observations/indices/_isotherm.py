"""How deep is the 20 degC isotherm?

In each column, by linear interpolation between the two levels that bracket the first
crossing from the surface, ``T_k >= 20 > T_(k+1)``::

    depth = z_k + (T_k - 20) / (T_k - T_(k+1)) * (z_(k+1) - z_k)

A column has a depth only if it is 20 degC or warmer at its first level. It ends at its first
missing level, which is its bottom: what may lie below is not looked at. A column that is
colder at the surface, or warm to its bottom, has none.
"""

import numpy as np


def isotherm_depth(
    temperature: np.ndarray, depth_m: np.ndarray, isotherm_degc: float
) -> np.ndarray:
    """The depth of an isotherm.

    Args:
        temperature: (times, levels, rows, columns) degC, NaN where missing.
        depth_m: (levels,) metres, increasing downward.
        isotherm_degc: of which isotherm.

    Returns:
        (times, rows, columns) metres; NaN in a column that has none.
    """
    wet = np.logical_and.accumulate(np.isfinite(temperature), axis=1)
    with np.errstate(invalid="ignore"):
        warm = wet & (temperature >= isotherm_degc)
        crosses = warm[:, :-1] & wet[:, 1:] & ~warm[:, 1:]
    has_depth = warm[:, 0] & crosses.any(axis=1)
    above = np.argmax(crosses, axis=1)[:, np.newaxis]
    upper = np.take_along_axis(temperature, above, axis=1)[:, 0]
    lower = np.take_along_axis(temperature, above + 1, axis=1)[:, 0]
    top, thickness = depth_m[above[:, 0]], np.diff(depth_m)[above[:, 0]]
    with np.errstate(invalid="ignore", divide="ignore"):
        depth = top + (upper - isotherm_degc) / (upper - lower) * thickness
    return np.where(has_depth, depth, np.nan)
