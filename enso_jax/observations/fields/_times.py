"""Which month, and which day, is each time in a file?

A month is the integer ``12 * year + month - 1``. Only year, month and day of the decoded
date are used, so a mean may be stamped with any day of its month.
"""

import dataclasses
import warnings
from pathlib import Path

import cftime
import netCDF4
import numpy as np

from enso_jax.observations._errors import ObservationError
from enso_jax.observations.fields._netcdf import attribute
from enso_jax.state import month_index


@dataclasses.dataclass(frozen=True)
class Times:
    """The times of one file.

    Attributes:
        months: (times,) int, the integer date of the month.
        days: (times,) int, day of the month from 1.
        days_in_month: (times,) int, of that month in the file's calendar.
    """

    months: np.ndarray
    days: np.ndarray
    days_in_month: np.ndarray


def months_of(path: Path, variable: netCDF4.Variable) -> Times:
    """The times of a coordinate variable "UNITS since DATE", in any CF calendar.

    Raises:
        ObservationError: if units or calendar are not understood, or a time is missing.
    """
    units = attribute(variable, "units")
    calendar = attribute(variable, "calendar").lower() or "standard"
    numbers = np.ma.filled(np.ma.asarray(variable[:], dtype=np.float64), np.nan)
    try:
        if not np.isfinite(numbers).all():
            raise ValueError("a time is missing")
        dates = np.atleast_1d(_decode(numbers, units, calendar))
    except (ValueError, OverflowError, TypeError) as error:
        raise ObservationError(
            f"{path}: the times, {units or 'without units'} in calendar {calendar}, cannot be "
            f"read ({error}); give them as 'days since YYYY-MM-DD'."
        ) from error
    return Times(
        np.array([month_index(date.year, date.month) for date in dates], dtype=np.int64),
        np.array([date.day for date in dates], dtype=np.int64),
        np.array([date.daysinmonth for date in dates], dtype=np.int64),
    )


def _decode(numbers: np.ndarray, units: str, calendar: str) -> np.ndarray:
    # Climatologies are dated from a year 0, which real-world calendars do not have.
    from_year_zero = "since 0000" in units or "since 0-" in units
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cftime.num2date(
            numbers,
            units,
            calendar,
            only_use_cftime_datetimes=True,
            has_year_zero=True if from_year_zero else None,
        )
