"""How are many models of one structure graded at once? The one call of `grade_stack`.

Checkpoints of a run, whose numbers differ, and reductions of a model, which lack groups.
"""

import itertools
from collections.abc import Sequence

import jax
import numpy as np

from enso_jax import grading
from enso_jax.benchmark._setting import MODEL, Setting
from enso_jax.models import TermModel
from enso_jax.simplify import pruned, removable_groups, without

_RELATIVE = 1e-3


def grade_stacked(count: int, setting: Setting) -> None:
    """Grades `count` checkpoints, whose coefficients differ by a thousandth, together."""
    _grade(checkpoints(setting.model, count), setting)


def sweep_stacked(count: int, setting: Setting) -> None:
    """Grades `count` reductions together."""
    _grade(reductions(setting.model, count), setting)


def sweep_apart(count: int, setting: Setting) -> None:
    """Grades `count` reductions one after another, each written down without what it lacks."""
    model = setting.model
    steps = [pruned(without(model, dropped), dropped) for dropped in _masks(model, count)]
    grade_each(steps, setting)


def grade_each(steps: Sequence[TermModel], setting: Setting) -> None:
    """Grades models one after another."""
    for step in steps:
        _grade([step], setting)


def reductions(model: TermModel, count: int) -> list[TermModel]:
    """`count` reductions of a model in its own structure, those of few groups first."""
    return [without(model, dropped) for dropped in _masks(model, count)]


def _masks(model: TermModel, count: int) -> list[frozenset[str]]:
    groups = removable_groups(model)
    subsets = itertools.chain.from_iterable(
        itertools.combinations(groups, size) for size in range(1, len(groups) + 1)
    )
    return [frozenset(chosen) for chosen in itertools.islice(subsets, count)]


def _grade(steps: Sequence[TermModel], setting: Setting) -> None:
    about = [
        grading.submission(step, f"{MODEL}, number {number}") for number, step in enumerate(steps)
    ]
    list(grading.grade_stack(steps, about, setting.record, setting.protocol))


def checkpoints(model: TermModel, count: int) -> list[TermModel]:
    """Models near `model`: each number is multiplied by 1 + 0.001 times a normal of its own."""
    rng = np.random.default_rng(0)

    def near(leaf: jax.Array) -> jax.Array:
        return leaf * (1.0 + _RELATIVE * rng.standard_normal(leaf.shape))

    return [jax.tree.map(near, model) for _ in range(count)]
