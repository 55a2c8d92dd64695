"""Which of all reductions are looked at, and which is the simplest that keeps the scores?

`backward`: from a start, whichever group can best be spared is dropped, as long as one can.
It starts from the original, and from each family's widest model: the one without any
nonlinear drift, and the one without any multiplicative noise. `exhaustive`: every subset.

Neither goes on to a model that has lost both: it could not be asymmetric.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from enso_jax.simplify._groups import (
    MULTIPLICATIVE,
    NONLINEAR,
    GroupError,
    groups_of,
    kind,
    named_groups,
    removable_groups,
)
from enso_jax.simplify._reductions import CONFIRMED_AT_ONCE, Reducer, Reduction

#: All subsets of more groups than these would take hours.
MOST_EXHAUSTIVE: Final = 12
#: The start of a path that was not searched for.
AS_ASKED: Final = "as asked"
_ORIGINAL: Final[frozenset[str]] = frozenset()

#: What makes the reductions of a model, and gives the paths that it took.
Search = Callable[[Reducer], list["RemovalPath"]]


@dataclasses.dataclass(frozen=True)
class RemovalPath:
    """What a search went through.

    Attributes:
        start: what the first reduction has lost, in words.
        reductions: of a search by steps, each drops a group more than the one before, and all
            are kept ones; a first one that is not kept stands alone. Of all subsets, those that
            had all replicates, from the simplest on.
    """

    start: str
    reductions: tuple[Reduction, ...]


def backward(reducer: Reducer) -> list[RemovalPath]:
    """The paths of backward elimination from the original and from each family's start."""
    groups = removable_groups(reducer.original.model)
    starts = dict(_starts(groups))
    first = reducer.confirm(list(starts.values()))
    return [
        RemovalPath(name, tuple(_eliminated(reduction, groups, reducer)))
        for name, reduction in zip(starts, first, strict=True)
    ]


def exhaustive(reducer: Reducer) -> list[RemovalPath]:
    """Every subset of the removable groups; those that may be best of each family confirmed.

    Raises:
        GroupError: if there are too many groups.
    """
    groups = removable_groups(reducer.original.model)
    if len(groups) > MOST_EXHAUSTIVE:
        raise GroupError(
            f"The model has {len(groups)} groups that could be dropped, and all subsets of more "
            f"than {MOST_EXHAUSTIVE} take too long: use --search backward."
        )
    masks = [
        frozenset(chosen)
        for count in range(len(groups) + 1)
        for chosen in itertools.combinations(groups, count)
    ]
    allowed = [mask for mask in masks if keeps_a_mechanism(mask, reducer)]
    reducer.confirm([_ORIGINAL])
    contenders = reducer.screen(allowed)
    by_mechanism: dict[tuple[bool, bool], list[Reduction]] = {}
    for reduction in contenders:
        by_mechanism.setdefault(mechanisms_left(reduction.dropped, groups), []).append(reduction)
    for alike in by_mechanism.values():
        _confirm_best_and_simplest(alike, reducer)
    return [RemovalPath("every subset", tuple(sorted(reducer.confirmed.values(), key=_by_size)))]


def only(names: Sequence[str]) -> Search:
    """The search that looks at one reduction, without the groups that `names` stand for.

    It raises GroupError if a name stands for none.
    """

    def search(reducer: Reducer) -> list[RemovalPath]:
        dropped = named_groups(names, reducer.original.model)
        return [RemovalPath(AS_ASKED, tuple(reducer.confirm([_ORIGINAL, dropped])))]

    return search


def mechanisms_left(dropped: frozenset[str], groups: Sequence[str]) -> tuple[bool, bool]:
    """Whether nonlinear drift and multiplicative noise are left."""
    left = {kind(group) for group in groups if group not in dropped}
    return NONLINEAR in left, MULTIPLICATIVE in left


def keeps_a_mechanism(dropped: frozenset[str], reducer: Reducer) -> bool:
    """Whether nonlinear drift or multiplicative noise is left, or there was nothing to lose."""
    groups = groups_of(reducer.original.model)
    had_one = any(mechanisms_left(_ORIGINAL, groups))
    if not (had_one and reducer.criteria.asymmetry_counts(reducer.grade)):
        return True
    return any(mechanisms_left(dropped, groups))


def _starts(groups: Sequence[str]) -> Iterator[tuple[str, frozenset[str]]]:
    yield "nothing", _ORIGINAL
    families = {
        f"all {NONLINEAR} drift": frozenset(g for g in groups if kind(g) == NONLINEAR),
        f"all {MULTIPLICATIVE} noise": frozenset(g for g in groups if kind(g) == MULTIPLICATIVE),
    }
    # A model of one mechanism is of its family already.
    if all(families.values()):
        yield from families.items()


def _eliminated(start: Reduction, groups: Sequence[str], reducer: Reducer) -> Iterator[Reduction]:
    yield start
    best: Reduction | None = start if start.kept or not start.dropped else None
    while best is not None:
        dropped = best.dropped
        wider = [dropped | {group} for group in groups if group not in dropped]
        best = reducer.best([mask for mask in wider if keeps_a_mechanism(mask, reducer)])
        if best is not None:
            yield best


def _confirm_best_and_simplest(contenders: Sequence[Reduction], reducer: Reducer) -> None:
    """Gives all replicates to the best ones, and to the simplest, until one of these is kept."""
    reducer.confirm([reduction.dropped for reduction in contenders[:CONFIRMED_AT_ONCE]])
    simplest = sorted(contenders, key=_by_size)
    for start in range(0, len(simplest), CONFIRMED_AT_ONCE):
        few = simplest[start : start + CONFIRMED_AT_ONCE]
        if any(found.kept for found in reducer.confirm([one.dropped for one in few])):
            return


def _by_size(reduction: Reduction) -> tuple[int, float]:
    return reduction.coefficients, -reduction.composite
