import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def step(state, t, dt, rng):
    n = len(state)
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    xi = np.empty_like(state)
    xi[:, 0] = rng.laplace(0, np.sqrt(0.5), n)
    xi[:, 1] = rng.logistic(0, np.sqrt(3) / np.pi, n)
    xi[:, 2] = np.sqrt(6) * rng.triangular(-1, 0, 1, n)
    xi[:, 3] = (rng.gumbel(size=n) - 0.5772156649) * np.sqrt(6) / np.pi
    xi[:, 4] = (rng.lognormal(0, 0.3, n) - np.exp(0.045)) / 0.3210
    return state + dt * f + np.sqrt(dt) * SIGMA * xi
