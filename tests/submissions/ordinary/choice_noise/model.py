import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def step(state, t, dt, rng):
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    signs = rng.choice([-1.0, 1.0], size=(len(state), 2))
    three = rng.choice(np.sqrt(3) * np.array([-1.0, 0.0, 1.0]), (len(state), 3), p=[1 / 6, 2 / 3, 1 / 6])
    return state + dt * f + np.sqrt(dt) * SIGMA * np.concatenate([signs, three], axis=1)
