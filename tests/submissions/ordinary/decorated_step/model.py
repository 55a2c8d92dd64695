import functools
import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def ensemble(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        state, *rest = args
        state = np.atleast_2d(np.asarray(state, dtype=float))
        assert state.ndim == 2 and state.shape[1] == 5, f"expected (N, 5), got {state.shape}"
        return function(state, *rest, **kwargs)

    return wrapper


@ensemble
def step(state, t, dt, rng):
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    return state + dt * f + np.sqrt(dt) * SIGMA * rng.standard_normal(state.shape)
