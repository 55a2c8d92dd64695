"""Which model is it? Two with the same digest are the same model."""

import hashlib
from typing import Literal

import jax
import numpy as np

from enso_jax.grading._result import Submission
from enso_jax.models import Step


def submission(step: Step, name: str, form: Literal["built-in", "python"] = "python") -> Submission:
    """What a result says of a model that is at hand as a `Step`."""
    return Submission(name=name, form=form, engine="compiled", digest=step_digest(step))


def step_digest(step: Step) -> str:
    """SHA-256 over a model's structure and parameters."""
    leaves, structure = jax.tree.flatten(step)
    digest = hashlib.sha256(str(structure).encode())
    for leaf in leaves:
        array = np.asarray(leaf)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
