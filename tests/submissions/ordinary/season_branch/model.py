import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def growth(t):
    month = t % 12
    if 6 <= month < 11:
        return 0.1
    elif month >= 11 or month < 1:
        return 0.0
    return -0.1


def step(state, t, dt, rng):
    x = np.asarray(state)
    f = x @ A.T
    f[:, 1] += growth(t) * x[:, 1] - p["cubic"] * x[:, 1] ** 3
    gain = 1.2 if int(t) % 12 in (11, 0, 1) else 1.0
    xi = rng.standard_normal(x.shape) * np.array([1, 1, 1, 1, gain])
    return x + dt * f + np.sqrt(dt) * SIGMA * xi
