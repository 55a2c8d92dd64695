import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
MIDDLES = np.arange(12) + 0.5
RATE = 0.12 * np.cos(2 * np.pi * (MIDDLES - 8.5) / 12)
WIND = 1 + 0.2 * np.cos(2 * np.pi * MIDDLES / 12)


def by_hand(table, t):
    position = (t - 0.5) % 12
    low = int(np.floor(position))
    weight = position - low
    return (1 - weight) * table[low % 12] + weight * table[(low + 1) % 12]


def step(state, t, dt, rng):
    rate = np.interp(t % 12, MIDDLES, RATE, period=12)
    f = state @ A.T
    f[:, 1] += rate * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    xi = rng.standard_normal(state.shape)
    xi[:, 4] *= by_hand(WIND, t)
    return state + dt * f + np.sqrt(dt) * SIGMA * xi
