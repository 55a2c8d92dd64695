"""A small model to be recovered from its own simulation, and what is done to its numbers."""

import jax
import numpy as np

from enso_jax.models import Ramp, TermModel, drift, noise


def small_twin() -> TermModel:
    """Five variables, three terms that are nonlinear or seasonal, one multiplicative noise."""
    terms = (
        *drift("T_C", {"T_C": -0.4, "T_C^2 [T_C > 0]": -0.8, "h_W": 0.2, "u": 0.15, "tau": 0.1}),
        *drift("T_E", {"T_E": {"1": -0.5, "s1": -0.2}, "h_W": 0.3, "tau": 0.15}),
        *drift("T_E", {"T_E^2/(1 + (T_E/0.3)^2)": 0.4}),
        *drift("h_W", {"h_W": -0.3, "T_E": -0.3}),
        *drift("u", {"u": -0.9, "h_W": 0.5}),
        *drift("tau", {"tau": -1.0, "T_C": 1.5}),
    )
    amplitudes = (
        noise("T_C", 0.04),
        noise("T_E", 0.06, {"c1": 0.3}, (Ramp("T_E", 1, 2.5, 0.2),)),
        noise("h_W", 0.05),
        noise("u", 0.1),
        noise("tau", 0.4),
    )
    return TermModel(terms, amplitudes, phase=0.5, bound=3.0)


def perturbed(model: TermModel, free: TermModel, seed: int = 0) -> TermModel:
    """The model with each free number too large or too small by 20%, at random."""
    rng = np.random.default_rng(seed)

    def one(leaf, free):
        factor = 1.0 + 0.2 * rng.choice([-1.0, 1.0], leaf.shape)
        return jax.numpy.where(free, leaf * factor, leaf)

    return jax.tree.map(one, model, free)


def free_values(tree: TermModel, free: TermModel) -> np.ndarray:
    """The free numbers of a tree of a model's shape, as one vector."""
    pairs = zip(jax.tree.leaves(tree), jax.tree.leaves(free), strict=True)
    return np.concatenate([np.asarray(leaf)[np.asarray(mask)] for leaf, mask in pairs])


def bits(model: TermModel) -> list[bytes]:
    """Every number of a model, to the bit."""
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(model)]
