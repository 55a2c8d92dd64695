import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
GROWTH = np.array([-0.09, -0.12, -0.12, -0.09, -0.03, 0.02, 0.08, 0.11, 0.12, 0.09, 0.02, -0.04])


def step(state, t, dt, rng):
    x = np.array(state, dtype=float)
    f = x @ A.T
    f[:, 1] += GROWTH[int(t) % 12] * x[:, 1] - p["cubic"] * x[:, 1] ** 3
    return x + dt * f + SIGMA * np.sqrt(dt) * rng.standard_normal(x.shape)
