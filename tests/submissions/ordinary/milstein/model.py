import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def step(state, t, dt, rng):
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    g = np.tile(SIGMA, (state.shape[0], 1))
    dg = np.zeros_like(g)
    bend = np.tanh(0.1 * state[:, 4])
    g[:, 4] *= 1 + 0.3 * bend
    dg[:, 4] = SIGMA[4] * 0.03 * (1 - bend**2)
    dW = np.sqrt(dt) * rng.standard_normal(state.shape)
    return state + f * dt + g * dW + 0.5 * g * dg * (dW**2 - dt)
