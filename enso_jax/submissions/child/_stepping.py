"""How is an ensemble carried through months by the submission itself, step by step?

The host engine's inner loop. The arithmetic of time is that of the compiled engine.
"""

import numpy as np

from enso_jax.submissions.child._draws import ArraySource, NoiseGenerator
from enso_jax.submissions.child._original import Original, call


def advance(
    original: Original,
    ensemble: np.ndarray,
    month: float,
    noise: np.ndarray,
    rng: np.random.Generator | None,
) -> np.ndarray:
    """The states at the ends of the months that begin at `month`, ``(month, 5, N)``.

    Args:
        original: a NumPy submission.
        ensemble: (5, N).
        month: months since 1 January of the run's first year.
        noise: ``(month, step, q, N)``; its first two axes count months and steps.
        rng: what to draw from instead of `noise`, for a step whose draws are not normals.
    """
    months, steps = noise.shape[:2]
    dt = 1.0 / steps
    state = np.ascontiguousarray(ensemble.T)
    states = np.empty((months, *ensemble.shape))
    for number in range(months):
        for k in range(steps):
            t = month + number + k * dt
            state = call(original, state, t, dt, _draws(noise[number, k], rng))
        states[number] = state.T
        if not np.isfinite(state).all():
            states[number:] = np.nan
            break
    return states


def step_once(
    original: Original,
    ensemble: np.ndarray,
    noise: np.ndarray,
    t: float,
    dt: float,
    rng: np.random.Generator | None,
) -> np.ndarray:
    """The ensemble (5, N) one step later; `noise` is ``(q, N)``."""
    state = np.ascontiguousarray(ensemble.T)
    return call(original, state, t, dt, _draws(noise, rng)).T


def _draws(noise: np.ndarray, rng: np.random.Generator | None) -> np.random.Generator:
    return rng or NoiseGenerator(ArraySource(noise))
