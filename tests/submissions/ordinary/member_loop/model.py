import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def one(x, t, dt, rng):
    f = A.dot(x)
    f[1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * x[1]
    if abs(x[1]) > 1.5:
        f[1] -= p["cubic"] * x[1] ** 3
    return x + dt * f + np.sqrt(dt) * SIGMA * rng.standard_normal(5)


def step(state, t, dt, rng):
    out = np.empty_like(state)
    for n in range(state.shape[0]):
        out[n] = one(state[n], t, dt, rng)
    return out
