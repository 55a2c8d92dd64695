"""What is left of a record when nobody may know which years it is of?

Everything but the years: values, calendar months and the distances between the three parts.
The first year of the long record becomes year 1, so that months read ``0001-01``, and name
and description, which may tell a year, are replaced.
"""

import dataclasses
from typing import Final

from enso_jax.observations._record import Record, Series
from enso_jax.state import MONTHS_PER_YEAR

_NAME: Final = "anonymous"
_DESCRIPTION: Final = (
    "Monthly anomalies from a climatology of thirty years; years are relative, the first is 0001"
)


def anonymous(record: Record) -> Record:
    """`record` with relative years in place of calendar years, and no other word on its origin.

    The digest is empty: it follows from the files once the record is written.
    """
    shift = MONTHS_PER_YEAR * anonymous_shift_years(record)

    def moved(series: Series) -> Series:
        return dataclasses.replace(series, first_month=series.first_month - shift)

    return dataclasses.replace(
        record,
        name=_NAME,
        description=_DESCRIPTION,
        long=moved(record.long),
        development=moved(record.development),
        held_out=moved(record.held_out),
        digest="",
    )


def anonymous_shift_years(record: Record) -> int:
    """By how many years a record is moved to begin in year 1."""
    return record.long.first_month // MONTHS_PER_YEAR - 1
