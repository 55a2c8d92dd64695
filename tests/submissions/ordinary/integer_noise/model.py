import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
REGIME = np.array([0.8, 1.0, 1.2])


def step(state, t, dt, rng):
    n = len(state)
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    xi = rng.standard_normal((n, 5))
    xi[:, 3] = 2 * rng.integers(0, 2, size=n) - 1
    xi[:, 4] *= REGIME[rng.integers(3, size=n)]
    return state + dt * f + np.sqrt(dt) * SIGMA * xi
