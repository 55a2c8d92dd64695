import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
OCEAN, FAST = [0, 1, 2], [3, 4]


def step(state, t, dt, rng):
    x = np.array(state, dtype=float, copy=True)
    tend = np.empty_like(x)
    tend[:, OCEAN] = x @ A[OCEAN].T
    tend[:, FAST] = x @ A[FAST].T
    rate = np.full(len(x), 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12))
    warm = x[:, 1] > 1.0
    rate[warm] -= 0.05 * (x[warm, 1] - 1.0)
    rate[~warm & (x[:, 1] < -1.0)] *= 0.9
    tend[:, 1] += rate * x[:, 1]
    amp = np.ones_like(x)
    amp[x[:, 0] > 0, 4] = 1.1
    x += dt * tend
    x += np.sqrt(dt) * amp * SIGMA * rng.standard_normal(x.shape)
    x[x[:, 1] > 6.0, 1] = 6.0
    return x
