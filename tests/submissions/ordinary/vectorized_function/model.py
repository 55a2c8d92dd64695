import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


@np.vectorize
def damping(T):
    if T > 1.5:
        return -0.05 * (T - 1.5)
    if T < -1.5:
        return -0.05 * (T + 1.5)
    return 0.0


def step(state, t, dt, rng):
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] + damping(state[:, 1])
    return state + dt * f + np.sqrt(dt) * SIGMA * rng.standard_normal(state.shape)
