"""Which few of many columns make up a target?

With the mean products A of all columns and the target y, no sample is looked at again. A
column k is taken into a least-squares fit, or out of it again, by one sweep of A::

    A_ij <- A_ij - A_ik A_kj / A_kk,   A_ik <- A_ik / |A_kk|,   A_kk <- -1 / A_kk

After any sweeps ``A_yy`` is the mean square that the columns inside leave unexplained, and
``A_ky^2 / |A_kk|`` what column k would explain of it if it came in, or what it alone
explains if it is in (Goodnight 1979, The American Statistician 33, 149).

Columns are added while they gain something, exchanged while that gains something, and
taken out where they are not missed.
"""

import dataclasses
from typing import Final

import numpy as np
from jaxtyping import Bool, Float, Int

# What is left of a column, as a share of it, under which it is a combination of those inside.
_COLLINEAR: Final = 1e-9
# What rounding leaves unexplained by columns as alike as x^2 and x^2 [x > 0].
_ROUNDING: Final = 1e-10
# Where a column gains less than a thousandth of what is unexplained, hundreds would not do: some
# columns always gain what chance gives them.
_PROGRESS: Final = 1e-3
# Exchanges that gain less than a hundredth go on for long and change nothing.
_WORTH_IT: Final = 0.99
# More than any drift takes that has a structure to be found; it bounds the time.
_MOST_EXCHANGES: Final = 20

Chosen = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Search:
    """What is chosen from, and by which rules.

    Attributes:
        moments: mean products of columns of mean square 1, and last of the target, whose
            variance is 1.
        always: columns that stay chosen.
        parent: for each column the one that has to be chosen before it; itself if none.
        rivals: for each column those that are not chosen beside it.
    """

    moments: Float[np.ndarray, "column_and_target column_and_target"]
    always: Chosen
    parent: Int[np.ndarray, " column"]
    rivals: Bool[np.ndarray, "column column"]

    def extended(self, chosen: Chosen, least: float) -> Chosen:
        """With more columns, as long as the best of the others gains `least` and gets on."""
        swept = self._swept(chosen)
        while swept[-1, -1] > _ROUNDING:
            column, gain = self._best(swept, chosen)
            if gain < max(least, _PROGRESS * swept[-1, -1]):
                break
            chosen, swept = (*chosen, column), sweep(swept, column)
        return chosen

    def exchanged(self, chosen: Chosen) -> Chosen:
        """With columns in the places of others, as long as that leaves less unexplained."""
        for _ in range(_MOST_EXCHANGES):
            swept = self._swept(chosen)
            options = [self._exchange(swept, chosen, out) for out in self._free(chosen)]
            after, better = min(options, default=(np.inf, chosen))
            if swept[-1, -1] < _ROUNDING or after > _WORTH_IT * swept[-1, -1]:
                break
            chosen = better
        return chosen

    def pruned(self, chosen: Chosen, least: float) -> Chosen:
        """Without the columns that explain less than `least`, beginning with the least."""
        while free := self._free(chosen):
            worth = _worth(self._swept(chosen))
            column = min(free, key=lambda column: worth[column])
            if worth[column] >= least:
                break
            chosen = without(chosen, column)
        return chosen

    def _free(self, chosen: Chosen) -> Chosen:
        return tuple(column for column in chosen if column not in self.always)

    def _exchange(self, swept: np.ndarray, chosen: Chosen, out: int) -> tuple[float, Chosen]:
        """The best column in the place of `out`, and what is then unexplained."""
        rest, swept = without(chosen, out), sweep(swept, out)
        column, gain = self._best(swept, rest)
        return float(swept[-1, -1]) - gain, (*rest, column)

    def _best(self, swept: np.ndarray, chosen: Chosen) -> tuple[int, float]:
        """The column that gains most, and its gain."""
        gains = np.where(self._open(chosen), _worth(swept), 0.0)
        best = int(np.argmax(gains))
        return best, float(gains[best])

    def _open(self, chosen: Chosen) -> Bool[np.ndarray, " column"]:
        """Which columns may be chosen next."""
        inside = np.zeros(len(self.parent), bool)
        inside[list(chosen)] = True
        own = self.parent == np.arange(len(inside))
        return (own | inside[self.parent]) & ~inside & ~self.rivals[list(chosen)].any(axis=0)

    def _swept(self, chosen: Chosen) -> np.ndarray:
        """The moments with the chosen columns in the fit."""
        swept = self.moments
        for column in chosen:
            swept = sweep(swept, column)
        return swept


def sweep(moments: np.ndarray, column: int) -> np.ndarray:
    """`moments` with `column` in the fit if it was out, out if it was in.

    A column that those in the fit make up is left where it is.
    """
    pivot, row = moments[column, column], moments[column]
    if abs(pivot) < _COLLINEAR:
        return moments
    after = moments - np.outer(row, row / pivot)
    after[column] = after[:, column] = row / abs(pivot)
    after[column, column] = -1.0 / pivot
    return after


def without(chosen: Chosen, column: int) -> Chosen:
    """All but `column`."""
    return tuple(other for other in chosen if other != column)


def _worth(swept: np.ndarray) -> Float[np.ndarray, " column"]:
    """What each column would explain, or does alone; 0 if the others make it up."""
    size, product = np.abs(np.diag(swept)[:-1]), swept[:-1, -1]
    known = size > _COLLINEAR
    return np.where(known, product**2 / np.where(known, size, 1.0), 0.0)
