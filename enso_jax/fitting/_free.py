"""Which numbers of a model may a refit move?

Those that `free` marks: a tree of the model's own shape that holds booleans for its numbers.
All reductions of one model therefore have one structure, and programs compiled for one serve
them all. What was dropped stays in the tree: a term with coefficients 0, a noise factor with
slope 0.
"""

from collections.abc import Callable, Collection
from typing import Any, Final

import equinox as eqx
import jax
import numpy as np

from enso_jax.models import CONSTANT, Amplitude, Term, TermModel

#: The kinds of numbers that can be refitted, by the names of their attributes.
KINDS: Final = ("coefficients", "scale", "level", "modulation", "slope")
#: Those of them that the statistics of a run say most about.
STATISTICS_KINDS: Final = ("coefficients", "level", "slope")
#: Their sign is given by the structure, and only their size is refitted.
SIGNED: Final = ("scale", "level")


def free_parameters(model: TermModel, kinds: Collection[str] = KINDS) -> TermModel:
    """All numbers of some kinds, less what was dropped: a `TermModel` of booleans.

    A number that is 0 is held, and so is all of a term whose coefficients are 0 and of an
    amplitude whose level is. The constant part of a modulation is held too, since the level
    says the same.

    Args:
        model: whose numbers.
        kinds: some of `KINDS`.

    Raises:
        ValueError: if a kind is none of them.
    """
    if strays := set(kinds) - set(KINDS):
        raise ValueError(f"{sorted(strays)} cannot be refitted; {KINDS} can")

    def of_kind(path, leaf):
        return np.asarray((_kind(path) in kinds) & (np.asarray(leaf) != 0.0))

    free = jax.tree_util.tree_map_with_path(of_kind, model)
    terms = [_free_term(mask, term) for mask, term in zip(free.terms, model.terms, strict=True)]
    pairs = zip(free.amplitudes, model.amplitudes, strict=True)
    amplitudes = [_free_amplitude(mask, amplitude) for mask, amplitude in pairs]
    return eqx.tree_at(
        lambda tree: (tree.terms, tree.amplitudes), free, (tuple(terms), tuple(amplitudes))
    )


def _free_term(free: Term, term: Term) -> Term:
    return free if np.any(np.asarray(term.coefficients)) else _held(free)


def _free_amplitude(free: Amplitude, amplitude: Amplitude) -> Amplitude:
    if not np.asarray(amplitude.level):
        return _held(free)
    varying = np.asarray([harmonic != CONSTANT for harmonic in amplitude.harmonics])
    return eqx.tree_at(lambda mask: mask.modulation, free, free.modulation & varying)


def _held(free: Any) -> Any:
    return jax.tree.map(np.zeros_like, free)


# --- A model's numbers as one vector ------------------------------------------------------


def numbers(tree: TermModel) -> np.ndarray:
    """All numbers of a model, or of a tree of its shape, in one vector ``(n,)``."""
    return np.concatenate([np.ravel(np.asarray(leaf)) for leaf in jax.tree.leaves(tree)])


def shaped(model: TermModel, values: np.ndarray) -> TermModel:
    """A tree of the shape of `model` that holds `values`, in the order of `numbers`."""
    leaves, structure = jax.tree.flatten(model)
    return jax.tree.unflatten(structure, _parts(leaves, values))


def with_numbers(model: TermModel, values: np.ndarray) -> TermModel:
    """The model with the numbers `values`, in the order of `numbers`."""
    leaves, structure = jax.tree.flatten(model)
    parts = _parts(leaves, values)
    old = _parts(leaves, numbers(model))
    changed = [n for n, part in enumerate(parts) if not np.array_equal(part, old[n])]
    # All in one call, which takes most of the time of a small refit.
    arrays = jax.device_put([parts[n].astype(leaves[n].dtype) for n in changed])
    for n, array in zip(changed, arrays, strict=True):
        leaves[n] = array
    return jax.tree.unflatten(structure, leaves)


def _parts(leaves: list[Any], values: np.ndarray) -> list[np.ndarray]:
    parts, begin = [], 0
    for leaf in leaves:
        parts.append(values[begin : begin + leaf.size].reshape(leaf.shape))
        begin += leaf.size
    return parts


def of_kind(model: TermModel, *kinds: str) -> np.ndarray:
    """Which of a model's `numbers` are of one of `kinds`, ``(n,)``."""
    return _per_number(model, lambda path: _kind(path) in kinds)


def of_noise(model: TermModel) -> np.ndarray:
    """Which of a model's `numbers` are those of its noise amplitudes, ``(n,)``."""
    return _per_number(model, lambda path: path[0].name == "amplitudes")


def which_are_free(free: TermModel, refittable: np.ndarray) -> np.ndarray:
    """Which of a model's `numbers` are free, ``(n,)``.

    Args:
        free: a tree of booleans of the model's structure.
        refittable: which numbers can be refitted at all.

    Raises:
        ValueError: if `free` has another structure, or frees what cannot be refitted.
    """
    marked = numbers(free).astype(bool)
    if marked.shape != refittable.shape:
        raise ValueError("free is a tree of booleans of the very structure of the model")
    if (marked & ~refittable).any():
        raise ValueError(f"free frees numbers that are none of {KINDS}")
    return marked


def _per_number(model: TermModel, test: Callable[[tuple[Any, ...]], bool]) -> np.ndarray:
    leaves = jax.tree_util.tree_leaves_with_path(model)
    return np.concatenate([np.full(np.size(leaf), test(path)) for path, leaf in leaves])


def _kind(path: tuple[Any, ...]) -> str:
    return path[-1].name
