import json
from pathlib import Path

import numpy as np
from scipy.special import erf, expit
from scipy.stats import norm

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


def step(state, t, dt, rng):
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1]
    f[:, 1] -= 0.05 * erf(state[:, 1] / 3) * state[:, 1] ** 2
    xi = rng.standard_normal(state.shape)
    xi[:, 3] = norm.ppf(0.0005 + 0.999 * rng.random(len(state)))
    xi[:, 4] *= 0.8 + 0.4 * expit(state[:, 0])
    return state + dt * f + np.sqrt(dt) * SIGMA * xi
