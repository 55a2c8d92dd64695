import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
DF = 8.0


def step(state, t, dt, rng):
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    xi = rng.standard_t(DF, size=state.shape) * np.sqrt((DF - 2) / DF)
    return state + dt * f + np.sqrt(dt) * SIGMA * xi
