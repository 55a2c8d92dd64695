import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def step(state, t, dt, rng):
    n = state.shape[0]
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    xi = rng.standard_normal((n, 5))
    xi[:, 4] = rng.exponential(1.0, size=n) - 1.0
    xi[:, 3] = 1.0 - rng.standard_exponential(n)
    return state + dt * f + np.sqrt(dt) * SIGMA * xi
