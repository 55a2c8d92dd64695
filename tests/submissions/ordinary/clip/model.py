import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
HIGH = np.array([4.0, 6.0, 80.0, 1.0, 15.0])


def step(state, t, dt, rng):
    x = np.clip(np.nan_to_num(state), -HIGH, HIGH)
    with np.errstate(over="ignore", invalid="ignore"):
        f = x @ A.T
        f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * x[:, 1]
        f[:, 1] -= (p["cubic"] * x[:, 1] ** 3).clip(-0.5, 0.5)
    xi = np.clip(rng.standard_normal(x.shape), -4, 4)
    return np.clip(x + dt * f + np.sqrt(dt) * SIGMA * xi, -HIGH, HIGH)
