"""How far is each month from the climatology?

::

    anomaly(t) = index(t) - mean over the baseline years of index in the calendar month of t

Nothing else is removed: no trend. The climatology is the mean of an integer reshape,
``(years, 12)``, not a group of dates.
"""

import numpy as np

from enso_jax.observations._errors import ObservationError
from enso_jax.state import MONTHS_PER_YEAR, month_index, month_label


def anomalies(
    values: np.ndarray, first_month: int, baseline_years: tuple[int, int], what: str
) -> tuple[np.ndarray, np.ndarray]:
    """The anomalies of a monthly series, and the climatology that was removed.

    Args:
        values: (months, ...), no month missing.
        first_month: integer date of the first.
        baseline_years: first and last year of the climatology.
        what: the series' name, for a sentence.

    Returns:
        (months, ...) and (12, ...), from January.

    Raises:
        ObservationError: if the series does not have all months of the baseline.
    """
    first_year, last_year = baseline_years
    begin = month_index(first_year, 1) - first_month
    end = month_index(last_year, 12) + 1 - first_month
    if begin < 0 or end > len(values):
        raise ObservationError(
            f"{what} runs from {month_label(first_month)} to "
            f"{month_label(first_month + len(values) - 1)}, but the climatology is of "
            f"{first_year}-{last_year}; bring the files of all these years."
        )
    years = values[begin:end].reshape(-1, MONTHS_PER_YEAR, *values.shape[1:])
    climatology = years.mean(axis=0)
    calendar_month = (first_month + np.arange(len(values))) % MONTHS_PER_YEAR
    return values - climatology[calendar_month], climatology
