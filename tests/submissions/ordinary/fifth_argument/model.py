import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())


def step(state, t, dt, rng, params=p, scheme="euler", **options):
    A, sigma = np.array(params["A"]), np.array(params["sigma"])
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1]
    if scheme == "euler" and not options:
        f[:, 1] -= params["cubic"] * state[:, 1] ** 3
    return state + dt * f + np.sqrt(dt) * sigma * rng.standard_normal(state.shape)
