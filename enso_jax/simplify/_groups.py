"""Which groups of terms does a model have, and what is it without some of them?

::

    constant/T_E  linear/T_E                 what L_i collects in the paper; always stays
    seasonal/T_E/h_W                         the annual cycle of a coupling
    nonlinear/T_E                            all nonlinear drift of an equation
    multiplicative/T_E                       the dependence of a noise amplitude on the state

What is dropped stays in the model as numbers that do nothing, so that all reductions of a
model have one structure: they are compiled once and run in one stack.
"""

import dataclasses
import difflib
from collections.abc import Iterable, Sequence
from typing import Final

import equinox as eqx
import jax.numpy as jnp

from enso_jax.models import Amplitude, Factor, TermModel

NONLINEAR: Final = "nonlinear"
MULTIPLICATIVE: Final = "multiplicative"
SEASONAL: Final = "seasonal"
#: The kinds whose groups a search may drop.
REMOVABLE: Final = (NONLINEAR, SEASONAL, MULTIPLICATIVE)


class GroupError(ValueError):
    """A model has no such group, or none that can be dropped. Its text is one sentence."""


def kind(group: str) -> str:
    """The first part of a group's name."""
    return group.split("/")[0]


def groups_of(model: TermModel) -> tuple[str, ...]:
    """The names of a model's groups, of the drift and then of the noise, in their order."""
    drift = [term.group for term in model.terms]
    noise = [amplitude.group for amplitude in model.amplitudes if amplitude.factors]
    return tuple(dict.fromkeys(drift + noise))


def removable_groups(model: TermModel) -> tuple[str, ...]:
    """The groups that a search may drop.

    Raises:
        GroupError: if there are none.
    """
    found = tuple(group for group in groups_of(model) if kind(group) in REMOVABLE)
    if not found:
        raise GroupError(
            "The model has no groups that could be dropped: its drift is linear and without "
            "seasons, and its noise additive."
        )
    return found


def named_groups(names: Iterable[str], model: TermModel) -> frozenset[str]:
    """The groups that `names` stand for: a whole name, or the beginning of several.

    ``nonlinear`` stands for all of that kind, ``seasonal/T_E`` for all of that equation.

    Raises:
        GroupError: if a name stands for none.
    """
    groups = groups_of(model)
    found: set[str] = set()
    for name in names:
        these = {group for group in groups if group == name or group.startswith(f"{name}/")}
        if not these:
            near = difflib.get_close_matches(name, groups, n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(groups)}."
            raise GroupError(f"The model has no group {name!r}: {hint}")
        found |= these
    return frozenset(found)


def without(model: TermModel, dropped: frozenset[str]) -> TermModel:
    """The model with the numbers of dropped groups such that they do nothing.

    A dropped noise dependence leaves the amplitude at the neutral state.
    """
    terms = [
        dataclasses.replace(term, coefficients=jnp.zeros_like(term.coefficients))
        if term.group in dropped
        else term
        for term in model.terms
    ]
    amplitudes = [
        dataclasses.replace(amplitude, factors=tuple(map(_neutral, amplitude.factors)))
        if amplitude.group in dropped
        else amplitude
        for amplitude in model.amplitudes
    ]
    return eqx.tree_at(
        lambda tree: (tree.terms, tree.amplitudes), model, (tuple(terms), tuple(amplitudes))
    )


def pruned(model: TermModel, dropped: frozenset[str]) -> TermModel:
    """The model without what dropped groups left in it; the same numbers come out of it."""
    amplitudes = [
        _additive(amplitude) if amplitude.group in dropped else amplitude
        for amplitude in model.amplitudes
    ]
    return TermModel(
        [term for term in model.terms if term.group not in dropped],
        amplitudes,
        phase=float(model.phase),
        bound=float(model.bound),
        scales=model.scales.tolist(),
        time_scale=float(model.time_scale),
        mixing=model.mixing,
    )


def drift_coefficients(model: TermModel, dropped: frozenset[str]) -> int:
    """How many coefficients the drift has left."""
    return sum(len(term.harmonics) for term in model.terms if term.group not in dropped)


def _neutral(factor: Factor) -> Factor:
    """The factor that is 1 at every state."""
    return dataclasses.replace(factor, slope=0.0)


def _additive(amplitude: Amplitude) -> Amplitude:
    return dataclasses.replace(amplitude, group=f"additive/{amplitude.equation}", factors=())


def in_words(dropped: Sequence[str], groups: Sequence[str]) -> str:
    """The names of dropped groups in few words: ``all nonlinear, seasonal/T_E/h_W``.

    Args:
        dropped: some of `groups`.
        groups: of the model.
    """
    words, left = [], list(dropped)
    for one in dict.fromkeys(map(kind, dropped)):
        of_kind = [group for group in groups if kind(group) == one]
        if set(of_kind) <= set(dropped) and len(of_kind) > 1:
            words.append(f"all {one}")
            left = [group for group in left if group not in of_kind]
    return ", ".join(words + left)


def ordered(groups: Iterable[str], model: TermModel) -> Sequence[str]:
    """Groups in the order in which the model has them."""
    chosen = set(groups)
    return [group for group in groups_of(model) if group in chosen]
