import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
_cache = {}


def propagator(dt):
    if dt not in _cache:
        power = np.eye(5)
        for k in range(12, 0, -1):
            power = np.eye(5) + dt / k * A @ power
        _cache[dt] = power
    return _cache[dt]


def step(state, t, dt, rng):
    x = np.array(state, dtype=float)
    x[:, 1] *= np.exp(dt * 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12))
    return x @ propagator(dt).T + np.sqrt(dt) * SIGMA * rng.standard_normal(x.shape)
