import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, sd = np.array(p["A"]), np.array(p["sigma"])
COV = np.diag(sd) @ np.array(p["corr"]) @ np.diag(sd)


def step(state, t, dt, rng):
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1]
    f[:, 1] -= p["cubic"] * state[:, 1] ** 3
    return state + dt * f + rng.multivariate_normal(np.zeros(5), COV * dt, size=len(state))
