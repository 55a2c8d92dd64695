import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def step(state, t, dt, rng):
    n = len(state)
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    rate = 0.3 / (1 + np.exp(-state[:, 0]))
    bursts = rng.poisson(rate * dt) * rng.uniform(1, 5, n)
    new = state + dt * f + np.sqrt(dt) * SIGMA * rng.standard_normal(state.shape)
    new[:, 4] += bursts - 3 * 0.15 * dt
    return new
