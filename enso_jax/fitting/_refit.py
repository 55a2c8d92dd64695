"""What comes of a refit?"""

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from enso_jax.fitting._free import numbers, shaped
from enso_jax.models import TermModel


@dataclasses.dataclass(frozen=True)
class Refit:
    """A model with its free numbers refitted.

    Attributes:
        model: all other numbers are those of the start, to the bit.
        errors: the standard error of each number, 0 where it is not free or where what it was
            fitted to does not depend on it. A tree of the model's shape.
        explained: by equation, the share of the variance of the original's drift along its run
            that the model's drift accounts for; an equation whose drift does not vary is
            absent, and all are where the refit looks at no drift.
        converged: whether the free numbers are the best; if not, `note` says why.
        steps: of the search; 0 for one that is solved directly.
        note: one sentence, empty for a refit that went well.
    """

    model: TermModel
    errors: TermModel
    explained: Mapping[str, float]
    converged: bool
    steps: int = 0
    note: str = ""


#: ``(start, free) -> Refit``: the numbers that are free come back, all others untouched.
Refitter = Callable[[TermModel, TermModel], Refit]


def refused(start: TermModel, note: str) -> Refit:
    """The start as it was, because nothing can be fitted."""
    return Refit(start, shaped(start, np.zeros(numbers(start).size)), {}, False, 0, note)
