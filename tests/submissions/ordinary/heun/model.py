import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def f(x, t):
    out = x @ A.T
    out[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * x[:, 1] - p["cubic"] * x[:, 1] ** 3
    return out


def step(state, t, dt, rng):
    dW = SIGMA * np.sqrt(dt) * rng.standard_normal(state.shape)
    k1 = f(state, t)
    k2 = f(state + dt * k1 + dW, t + dt)
    return state + dt * (k1 + k2) / 2 + dW
