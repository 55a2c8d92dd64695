"""When may a reduction take the place of the original?

The rule of the paper's Appendix G, as data: it keeps 95% of the composite, 90% of each
dimension, and the positive skewness of T_E. The paper judged the asymmetry by eye; here it
is the third moment of all months of the free run, of which half of the original's, or of
the record's where that is less, has to be left. Where the original scores below 0.24 the
scores alone count, as in the paper.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Final

from enso_jax.grading import GradeResult

DIMENSIONS: Final = ("statistical", "dynamical", "predictive")
SCORES: Final = (*DIMENSIONS, "composite")
_INDEX: Final = "T_E"


class CriteriaError(ValueError):
    """Criteria that cannot be read. Its text is one sentence."""


@dataclasses.dataclass(frozen=True)
class Criteria:
    """The shares of the original that a reduction keeps.

    Attributes:
        composite: of the composite score.
        dimension: of each dimension's score.
        skewness: of the lesser of the original's and the record's skewness of T_E, where both
            are positive.
        asymmetry_from: the composite of the original from which on its asymmetry counts.
    """

    composite: float = 0.95
    dimension: float = 0.90
    skewness: float = 0.5
    asymmetry_from: float = 0.24

    @staticmethod
    def of(text: str) -> "Criteria":
        """The standard criteria with the changes in `text`: ``composite=0.9,skewness=0.3``.

        Raises:
            CriteriaError: if it is not of this form, or a value is no number from 0 to 1.
        """
        changes = {}
        names = [field.name for field in dataclasses.fields(Criteria)]
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, _, value = part.partition("=")
            try:
                number = float(value)
            except ValueError:
                number = math.nan
            if name.strip() not in names or not 0.0 <= number <= 1.0:
                raise CriteriaError(
                    f"{part!r} is no criterion: write NAME=SHARE with a share from 0 to 1 and a "
                    f"name of {', '.join(names)}."
                )
            changes[name.strip()] = number
        return Criteria(**changes)

    def asymmetry_counts(self, original: GradeResult) -> bool:
        """Whether a reduction of this original has to keep its asymmetry."""
        return original.scores.composite >= self.asymmetry_from

    def margins(self, original: GradeResult, reduced: GradeResult) -> Mapping[str, float]:
        """By how much a reduction exceeds what it has to keep, by criterion; negative: it fails.

        Both are compared on the replicates that both have, whose noise is the same.
        """
        limits = {name: self.dimension if name in DIMENSIONS else self.composite for name in SCORES}
        shared = min(original.replicates, reduced.replicates)
        margins = {}
        for name, share in limits.items():
            before, after = (mean_score(result, name, shared) for result in (original, reduced))
            # A share of a negative score would ask for more than there was.
            margins[name] = after - min(share * before, before)
        if self.asymmetry_counts(original):
            target = min(simulated_skewness(original), observed_skewness(original))
            if target > 0.0:
                margins["skewness"] = simulated_skewness(reduced) - self.skewness * target
        return margins


def mean_score(result: GradeResult, name: str, replicates: int) -> float:
    """The mean of a score over the first replicates."""
    values = [getattr(scores, name) for scores in result.replicate_scores[:replicates]]
    return sum(values) / len(values) if values else 0.0


def simulated_skewness(result: GradeResult) -> float:
    """The skewness of T_E in the free run; 0 for an invalid model."""
    return 0.0 if result.detail is None else result.detail.statistical.skewness[_INDEX].mean


def observed_skewness(result: GradeResult) -> float:
    """The skewness of T_E in the record; 0 for an invalid model's result, which lacks it."""
    return 0.0 if result.detail is None else result.detail.statistical.skewness[_INDEX].observed
