import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def step(state, t, dt, rng):
    n = len(state)
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    xi = rng.standard_normal((n, 5))
    shape = 2.0 + np.tanh(state[:, 0]) ** 2
    xi[:, 4] = (rng.gamma(shape, scale=1.0) - shape) / np.sqrt(shape)
    xi[:, 3] = (rng.beta(2, 2, n) - 0.5) / np.sqrt(0.05)
    return state + dt * f + np.sqrt(dt) * SIGMA * xi
