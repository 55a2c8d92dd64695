import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
BUFFERS = {}


def step(state, t, dt, rng):
    out = BUFFERS.setdefault(state.shape, np.empty(state.shape))
    f = state @ A.T
    season = p["growth"]["amp"] * np.cos(2 * np.pi * (t - p["growth"]["peak"]) / 12)
    f[:, 1] += season * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    out[...] = state + dt * f + SIGMA * np.sqrt(dt) * rng.standard_normal(state.shape)
    return out
