"""Do two sets of indices agree, month by month?

Element-wise: index i passes if in every month of the reference's development period in which
it was measured::

    |candidate_i(t) - reference_i(t)| <= tolerance_i

The tolerance is 1e-5 of the variable's characteristic scale: wide enough for single
precision and five written decimals, narrow enough that equal weights in place of the cosine
of latitude do not pass. Stand-in months have no reference and are left out.
"""

import dataclasses
from types import MappingProxyType
from typing import Final

import numpy as np

from enso_jax.observations._record import Series
from enso_jax.observations.check._candidate import Candidate
from enso_jax.state import NAMES, VARIABLES, month_label

_RELATIVE_TOLERANCE: Final = 1e-5
#: For each index, in its units.
TOLERANCES: Final = MappingProxyType(
    {variable.name: _RELATIVE_TOLERANCE * variable.scale for variable in VARIABLES}
)


@dataclasses.dataclass(frozen=True)
class IndexCheck:
    """How one index compares.

    Attributes:
        name: which.
        passed: whether every month is there and within the tolerance.
        largest: the largest difference, in the index's units; None if a month is missing.
        month: integer date of the largest difference, or of the first missing month.
        missing: in how many months of the reference the candidate has no finite value.
        compared: how many months were compared or missing.
    """

    name: str
    passed: bool
    largest: float | None
    month: int
    missing: int
    compared: int


@dataclasses.dataclass(frozen=True)
class CheckResult:
    """How five indices compare, in the order of `state.NAMES`."""

    indices: tuple[IndexCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether all five do."""
        return all(index.passed for index in self.indices)

    @property
    def differing(self) -> list[str]:
        """The names of those that do not."""
        return [index.name for index in self.indices if not index.passed]

    def feedback(self) -> str:
        """What someone whose indices are checked is told: which differ, and where most.

        The largest discrepancy is that of largest multiple of its tolerance; a missing month
        is larger than any.
        """
        if self.passed:
            return "pass"
        worst = max((index for index in self.indices if not index.passed), key=_severity)
        what = "is missing" if worst.largest is None else "differs most"
        return (
            f"fail: {', '.join(self.differing)} differ from the reference; "
            f"{worst.name} {what} in {month_label(worst.month)}"
        )


def check_indices(candidate: Candidate, reference: Series) -> CheckResult:
    """Compares a candidate with the development period of a record."""
    aligned = align(candidate, reference)
    return CheckResult(
        tuple(
            _check_one(name, aligned[:, column], reference, column)
            for column, name in enumerate(NAMES)
        )
    )


def align(candidate: Candidate, reference: Series) -> np.ndarray:
    """(months, 5): the candidate's values in the reference's months, NaN where it has none."""
    aligned = np.full(reference.values.shape, np.nan)
    place = candidate.months - reference.first_month
    inside = (place >= 0) & (place < reference.months)
    aligned[place[inside]] = candidate.values[inside]
    return aligned


def _check_one(name: str, values: np.ndarray, reference: Series, column: int) -> IndexCheck:
    compared = reference.measured[:, column]
    absent = compared & ~np.isfinite(values)
    difference = np.where(compared & ~absent, np.abs(values - reference.values[:, column]), -np.inf)
    worst = int(np.argmax(absent if absent.any() else difference))
    largest = None if absent.any() else max(float(difference[worst]), 0.0)
    return IndexCheck(
        name=name,
        passed=largest is not None and largest <= TOLERANCES[name],
        largest=largest,
        month=reference.first_month + worst,
        missing=int(absent.sum()),
        compared=int(compared.sum()),
    )


def _severity(index: IndexCheck) -> float:
    return np.inf if index.largest is None else index.largest / TOLERANCES[index.name]
