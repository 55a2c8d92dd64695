"""Which explanation of ENSO's asymmetry does a model rely on?

The two that are debated: linear drift with multiplicative noise, and nonlinear drift with
additive noise. A family's reduction is the simplest whose composite is within one standard
error of the best one's in the family; where both families have one, the model can go
either way, and the higher-scoring one is chosen.
"""

from collections.abc import Iterable
from typing import Final

from enso_jax.models import TermModel
from enso_jax.simplify._reductions import Reduction, change

LINEAR_MULTIPLICATIVE: Final = "linear-multiplicative"
NONLINEAR_ADDITIVE: Final = "nonlinear-additive"
FAMILIES: Final = (LINEAR_MULTIPLICATIVE, NONLINEAR_ADDITIVE)


def structure_of(model: TermModel) -> str:
    """Drift and noise in a word, such as ``linear-multiplicative``."""
    drift = "nonlinear" if model.nonlinear else "linear"
    return f"{drift}-{'multiplicative' if model.multiplicative else 'additive'}"


def reductions_by_family(reductions: Iterable[Reduction]) -> dict[str, Reduction]:
    """The reduction of each family that has a kept one; the original if there is no other."""
    kept = [reduction for reduction in reductions if reduction.kept]
    by_family = {
        family: [reduction for reduction in kept if structure_of(reduction.pruned) == family]
        for family in FAMILIES
    }
    return {family: simplest(several) for family, several in by_family.items() if several}


def chosen(reductions: Iterable[Reduction]) -> Reduction | None:
    """The best of the families' reductions; the simplest kept one where no family has one."""
    several = list(reductions)
    if families := reductions_by_family(several):
        return max(families.values(), key=lambda reduction: reduction.composite)
    kept = [reduction for reduction in several if reduction.kept]
    return simplest(kept) if kept else None


def simplest(reductions: Iterable[Reduction]) -> Reduction:
    """The one of fewest coefficients whose composite is the best one's within its error.

    Of equally many coefficients, the one that has lost more groups: noise has them too. The
    original is simplest only where it is alone.
    """
    several = _reduced(reductions)
    best = max(several, key=lambda reduction: reduction.composite)

    def as_good(reduction: Reduction) -> bool:
        difference, error = change(reduction.result, best.result, "composite")
        return difference >= -(error or 0.0)

    return min(
        filter(as_good, several),
        key=lambda reduction: (
            reduction.coefficients,
            -len(reduction.dropped),
            -reduction.composite,
        ),
    )


def _reduced(reductions: Iterable[Reduction]) -> list[Reduction]:
    """Those that have lost something; all if none has."""
    several = list(reductions)
    return [reduction for reduction in several if reduction.dropped] or several
