"""What do PSL's long index series say?

Text: a line with the first and last year, a line for each year with its twelve months, a
line with the number that stands for a missing value, and remarks::

    1870         2024
     1870    -0.86   -0.79 ...
     ...
      -99.99
      HadISST Nino 3 ...
"""

from pathlib import Path

import numpy as np

from enso_jax.observations._errors import ObservationError
from enso_jax.state import MONTHS_PER_YEAR, month_index


def read_long_series(path: Path) -> tuple[int, np.ndarray]:
    """The first month and the values (months,), degC, NaN where missing, of a text series.

    Raises:
        ObservationError: if the file is not of this form, or its years have a gap.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        first_year, last_year = (int(word) for word in lines[0].split()[:2])
        years = last_year - first_year + 1
        rows = [[float(word) for word in line.split()] for line in lines[1 : years + 1]]
        missing = float(lines[years + 1].split()[0])
    except (OSError, ValueError, IndexError) as error:
        raise ObservationError(
            f"{path}: not a long series of PSL (first and last year, a line of twelve months for "
            f"each year, the missing value): {error}; fetch it again."
        ) from error
    for year, row in enumerate(rows, first_year):
        if len(row) != 1 + MONTHS_PER_YEAR or row[0] != year:
            raise ObservationError(
                f"{path}, line {year - first_year + 2}: not the twelve months of {year}; "
                "fetch it again."
            )
    values = np.array(rows)[:, 1:].ravel()
    return month_index(first_year, 1), np.where(values == missing, np.nan, values)
