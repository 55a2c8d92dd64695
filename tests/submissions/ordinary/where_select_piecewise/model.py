import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def saturate(h):
    inner = np.abs(h) <= 20
    return np.piecewise(h, [h < -20, inner, h > 20], [-20.0, lambda z: z, 20.0])


def step(state, t, dt, rng):
    x = np.asarray(state, dtype=float)
    T = x[:, 1]
    f = x @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * T
    f[:, 1] += 0.001 * (saturate(x[:, 2]) - x[:, 2])
    f[:, 1] -= np.where(T > 1.5, 0.05 * (T - 1.5), 0.0) + 0.02 * np.heaviside(-T - 2, 0.5) * (T + 2)
    f[:, 0] -= 0.01 * np.sign(x[:, 0]) * np.maximum(np.abs(x[:, 0]) - 1, 0)
    gain = np.select([x[:, 0] > 0.5, x[:, 0] < -0.5], [1.15, 0.9], default=1.0)
    xi = rng.standard_normal(x.shape)
    return x + dt * f + np.sqrt(dt) * SIGMA * np.c_[xi[:, :4], gain * xi[:, 4]]
