"""Which known mistake gives the indices that differ?

Every mistake predicts what the candidate would be. The one that predicts it within the
tolerance explains it; if none does, nothing known does, unless one leaves a twentieth of the
difference, and then it is named as the likely one. A mistake of which a simpler one is a
special case never beats it.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from enso_jax.observations._errors import ObservationError
from enso_jax.observations._record import Series
from enso_jax.observations.check._candidate import Candidate
from enso_jax.observations.check._comparison import TOLERANCES, CheckResult, align
from enso_jax.observations.check._field_pitfalls import FIELD_PITFALLS
from enso_jax.observations.check._series_pitfalls import SERIES_PITFALLS
from enso_jax.observations.fields import RawFields
from enso_jax.observations.indices import FIELD_OF, Recipe, anomalies, monthly_index
from enso_jax.state import NAMES

#: A mistake that leaves more than this part of the difference is none.
_LIKELY: Final = 0.05
#: What it usually is where a candidate has no values, or one value, throughout.
_EMPTY: Final = MappingProxyType(
    {
        "T_C": ("dateline", "a box across the dateline is empty when longitudes are -180 to 180"),
        "u": ("dateline", "a box across the dateline is empty when longitudes are -180 to 180"),
        "h_W": ("Kelvin", "temperatures in kelvin never cross 20"),
    }
)


@dataclasses.dataclass(frozen=True)
class Explanation:
    """Why an index differs.

    Attributes:
        index: which index.
        pitfall: the mistake's name, or None if no known one explains the difference.
        says: a sentence without its full stop.
        exact: whether it explains the index to within the tolerance.
    """

    index: str
    pitfall: str | None
    says: str
    exact: bool

    def sentence(self) -> str:
        """What a person reads."""
        if self.pitfall is None:
            return f"{self.index}: {self.says}."
        likely = "" if self.exact else "probably "
        return f"{self.index}: {likely}{self.pitfall}: {self.says}."


def explain(
    candidate: Candidate,
    reference: Series,
    result: CheckResult,
    raw: RawFields | None = None,
    recipe: Recipe | None = None,
) -> list[Explanation]:
    """An explanation for every index that differs.

    Args:
        candidate, reference, result: of `check_indices`.
        raw: the fields that the reference was made from; without them only the mistakes that
            an index shows by itself are looked for.
        recipe: by which it was made.
    """
    aligned = align(candidate, reference)
    explanations = []
    for name in result.differing:
        column = NAMES.index(name)
        compared = reference.measured[:, column]
        here = _Case(name, aligned[:, column], reference, compared)
        explanations.append(_explain_one(here, raw, recipe or Recipe()))
    return explanations


@dataclasses.dataclass(frozen=True, eq=False)
class _Case:
    """One index that differs; (months,) each."""

    name: str
    candidate: np.ndarray
    reference_series: Series
    compared: np.ndarray

    @property
    def reference(self) -> np.ndarray:
        return self.reference_series.values[:, NAMES.index(self.name)]

    def residual(self, predicted: np.ndarray) -> float:
        """What a mistake leaves unexplained, at most, where both are finite."""
        here = self.compared & np.isfinite(self.candidate)
        with np.errstate(invalid="ignore"):
            left = np.abs(self.candidate[here] - predicted[here])
        return float(np.max(left, initial=0.0)) if np.isfinite(left).all() else np.inf


def _explain_one(case: _Case, raw: RawFields | None, recipe: Recipe) -> Explanation:
    if (empty := _explain_empty(case)) is not None:
        return empty
    best = min(_predictions(case, raw, recipe), key=lambda found: (found.rank, found.residual))
    difference = case.residual(case.reference)
    if best.residual <= best.tolerance:
        return Explanation(case.name, best.pitfall, best.says, exact=True)
    if best.residual <= _LIKELY * difference:
        return Explanation(case.name, best.pitfall, best.says, exact=False)
    hint = "" if raw else ", as far as the index alone can show; name the fields with --raw"
    return Explanation(case.name, None, f"no known mistake gives this difference{hint}", False)


def _explain_empty(case: _Case) -> Explanation | None:
    """The candidate has no value, one value, or values as large as fill values."""
    finite = case.candidate[np.isfinite(case.candidate) & case.compared]
    if finite.size == 0 or np.ptp(finite) == 0.0:
        what = "no value in any month" if finite.size == 0 else "the same value in every month"
        pitfall, says = _EMPTY.get(case.name, (None, "the reason cannot be told from it"))
        return Explanation(case.name, pitfall, f"there is {what}: {says}", exact=False)
    if finite.size < case.compared.sum():
        missing = int(case.compared.sum() - finite.size)
        return Explanation(
            case.name, None, f"{missing} months that the reference has are missing", exact=False
        )
    if np.abs(finite).max() > 1e4 * np.abs(case.reference).max():
        says = "values this large are a fill value that was read as a number"
        return Explanation(case.name, "fill values", says, exact=False)
    return None


@dataclasses.dataclass(frozen=True)
class _Found:
    pitfall: str
    says: str
    residual: float
    tolerance: float
    freedom: int

    @property
    def rank(self) -> tuple[bool, int]:
        """Mistakes that explain all come first, and of these the simplest."""
        explains = self.residual <= self.tolerance
        return (not explains, self.freedom if explains else 0)


def _predictions(case: _Case, raw: RawFields | None, recipe: Recipe) -> Iterator[_Found]:
    tolerance = TOLERANCES[case.name]
    for pitfall in SERIES_PITFALLS:
        predicted = _where_compared(case, pitfall.signature)
        yield _Found(
            pitfall.name, pitfall.says, case.residual(predicted), tolerance, pitfall.freedom
        )
    if raw is None or FIELD_OF[case.name] not in raw.fields:
        return
    for pitfall in FIELD_PITFALLS:
        wrong = pitfall.wrong(recipe, case.name)
        predicted = _made_again(case, raw, wrong)
        if predicted is not None and not np.array_equal(predicted, case.reference):
            yield _Found(pitfall.name, pitfall.says, case.residual(predicted), tolerance, 0)


def _where_compared(
    case: _Case, signature: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """What a signature predicts; it sees the reference in place of what is not compared."""
    reference = np.where(np.isfinite(case.reference), case.reference, 0.0)
    usable = case.compared & np.isfinite(case.candidate)
    return signature(np.where(usable, case.candidate, reference), reference)


def _made_again(case: _Case, raw: RawFields, recipe: Recipe) -> np.ndarray | None:
    """The index by another recipe in the reference's months; None if it cannot be made."""
    series = case.reference_series
    try:
        index = monthly_index(raw.fields[FIELD_OF[case.name]], case.name, recipe)
        values, _ = anomalies(index.values, index.first_month, recipe.baseline_years, case.name)
    except ObservationError:
        return None
    made: Mapping[int, float] = dict(enumerate(values, index.first_month))
    return np.array([made.get(series.first_month + row, np.nan) for row in range(series.months)])
