import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
TABLEAU = [(0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6)]


def f(x, t):
    out = x @ A.T
    out[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * x[:, 1] - p["cubic"] * x[:, 1] ** 3
    return out


def step(state, t, dt, rng):
    k, total = np.zeros_like(state), np.zeros_like(state)
    for node, weight in TABLEAU:
        k = f(state + node * dt * k, t + node * dt)
        total += weight * k
    return state + dt * total + rng.normal(scale=SIGMA, size=state.shape) * np.sqrt(dt)
