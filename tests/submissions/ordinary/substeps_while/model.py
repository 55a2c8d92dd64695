import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def step(state, t, dt, rng):
    x, now, left = np.array(state, dtype=float), t, dt
    while left > 1e-12:
        h = min(left, 0.025)
        f = x @ A.T
        f[:, 1] += 0.12 * np.cos(2 * np.pi * (now - 8.5) / 12) * x[:, 1] - p["cubic"] * x[:, 1] ** 3
        x = x + h * f + rng.normal(0.0, SIGMA * np.sqrt(h), size=x.shape)
        now += h
        left -= h
    return x
