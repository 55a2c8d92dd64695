import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"], np.float32), np.array(p["sigma"], np.float32)


def step(state, t, dt, rng):
    x = np.asarray(state, dtype=np.float32)
    rate = np.float32(0.12 * np.cos(2 * np.pi * (t - 8.5) / 12))
    f = x @ A.T
    f[:, 1] += rate * x[:, 1] - np.float32(p["cubic"]) * x[:, 1] ** 3
    xi = rng.standard_normal(x.shape, dtype=np.float32)
    return (x + np.float32(dt) * f + np.float32(np.sqrt(dt)) * SIGMA * xi).astype(np.float32)
