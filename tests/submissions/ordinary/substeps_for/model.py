import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def step(state, t, dt, rng, longest=0.02):
    x = np.array(state, dtype=float)
    count = max(1, int(np.ceil(dt / longest - 1e-9)))
    h = dt / count
    for k in range(count):
        f = x @ A.T
        f[:, 1] += 0.12 * np.cos(2 * np.pi * (t + k * h - 8.5) / 12) * x[:, 1]
        f[:, 1] -= p["cubic"] * x[:, 1] ** 3
        x += h * f + SIGMA * np.sqrt(h) * rng.standard_normal(x.shape)
    return x
