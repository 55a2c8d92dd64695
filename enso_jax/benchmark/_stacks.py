"""How are many checkpoints of one structure graded at once? The one call of `grade_stack`."""

import jax
import numpy as np

from enso_jax import grading
from enso_jax.benchmark._setting import MODEL, Setting
from enso_jax.models import TermModel

_RELATIVE = 1e-3


def grade_stacked(count: int, setting: Setting) -> None:
    """Grades `count` checkpoints, whose coefficients differ by a thousandth, together."""
    steps = checkpoints(setting.model, count)
    about = [
        grading.submission(step, f"{MODEL}, checkpoint {number}")
        for number, step in enumerate(steps)
    ]
    list(grading.grade_stack(steps, about, setting.record, setting.protocol))


def checkpoints(model: TermModel, count: int) -> list[TermModel]:
    """Models near `model`: each number is multiplied by 1 + 0.001 times a normal of its own."""
    rng = np.random.default_rng(0)

    def near(leaf: jax.Array) -> jax.Array:
        return leaf * (1.0 + _RELATIVE * rng.standard_normal(leaf.shape))

    return [jax.tree.map(near, model) for _ in range(count)]
