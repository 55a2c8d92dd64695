"""What do the numbers in a state mean, and when are they?

A state is five anomalies of the tropical Pacific, always in this order and in
physical units::

    state = [T_C, T_E, h_W, u, tau]

An ensemble is an array ``(5, N)``: variables first, members last.

Time is counted in months. Model time ``t`` is a real number with ``t = 0`` at
1 January 00:00, so that calendar month ``k`` of the first year (January is 0)
runs from ``t = k`` to ``t = k + 1``. Dates of the record are integers,
``12 * year + month - 1``; they become text only where files are read and written.
"""

import dataclasses
import re
from typing import Final

MONTHS_PER_YEAR: Final = 12


@dataclasses.dataclass(frozen=True)
class Variable:
    """One of the five indices.

    Attributes:
        name: the name used everywhere, in code, files and tables.
        units: physical units, in the notation of the CF conventions.
        scale: the characteristic magnitude (in `units`) by which low-order ENSO
            models make the variable nondimensional. A convention, not a fit.
        long_name: what it is, in words.
        region: the box whose mean it is; every box lies between 5S and 5N.
    """

    name: str
    units: str
    scale: float
    long_name: str
    region: str


VARIABLES: Final = (
    Variable("T_C", "degC", 7.5, "central Pacific SST anomaly", "160E-150W (Nino 4)"),
    Variable("T_E", "degC", 7.5, "eastern Pacific SST anomaly", "150W-90W (Nino 3)"),
    Variable("h_W", "m", 150.0, "western Pacific thermocline depth anomaly", "120E-180"),
    Variable("u", "m s-1", 1.5, "central Pacific zonal current anomaly", "160E-150W, 0-55 m"),
    Variable("tau", "m s-1", 5.0, "western Pacific zonal wind anomaly at 850 hPa", "120E-180"),
)
NAMES: Final = tuple(variable.name for variable in VARIABLES)
T_C, T_E, H_W, U, TAU = range(5)

#: Months in one unit of the nondimensional time that goes with the scales.
TIME_SCALE_MONTHS: Final = 2.0


def month_index(year: int, month: int) -> int:
    """The integer date of a calendar month (`month` 1 to 12)."""
    return MONTHS_PER_YEAR * year + month - 1


def month_label(index: int) -> str:
    """The date `index` as text, ``1997-12``."""
    year, month = divmod(index, MONTHS_PER_YEAR)
    return f"{year:04d}-{month + 1:02d}"


def parse_month(label: str) -> int:
    """The integer date of ``YYYY-MM``.

    Raises:
        ValueError: if `label` is anything else.
    """
    match = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", label)
    if match is None:
        raise ValueError(f"{label!r} is not a month written as YYYY-MM")
    return month_index(int(match[1]), int(match[2]))
