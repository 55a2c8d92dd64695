import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def step(state, t, dt, rng):
    f = np.zeros_like(state)
    np.matmul(state, A.T, out=f)
    np.add.at(f, (slice(None), 1), 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1])
    cube = np.power(state[:, 1], 3)
    np.multiply(cube, p["cubic"], out=cube)
    f[:, 1] = np.subtract(f[:, 1], cube)
    np.multiply(f, dt, out=f)
    np.add(f, state, out=f)
    xi = rng.standard_normal(state.shape).reshape(-1, 5)
    f += np.sqrt(dt) * np.broadcast_to(SIGMA, xi.shape) * np.ascontiguousarray(xi)
    return np.swapaxes(np.vstack([c for c in f.T]), 0, 1)
