import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
_fixed = np.random.default_rng(7)
W1, W2 = 0.3 * _fixed.standard_normal((5, 8)), 0.05 * _fixed.standard_normal((8, 5))
SCALE = np.array([0.6, 0.9, 13.0, 0.13, 2.7])


def step(state, t, dt, rng):
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    hidden = np.tanh((state / SCALE) @ W1)
    f += 0.05 * SCALE * (hidden @ W2)
    return state + dt * f + np.sqrt(dt) * SIGMA * rng.standard_normal(state.shape)
