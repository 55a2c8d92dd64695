import json
from pathlib import Path

import numpy as np
from numpy.linalg import cholesky

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, sd = np.array(p["A"]), np.array(p["sigma"])
COV = np.outer(sd, sd) * np.array(p["corr"])
FIXED = cholesky(COV)


def step(state, t, dt, rng):
    x = np.asarray(state, dtype=float)
    varying = cholesky(COV * (1 + 0.1 * np.cos(2 * np.pi * t / 12)))
    xi = rng.standard_normal((x.shape[0], 5))
    noise = xi @ (0.5 * (FIXED + varying)).T
    f = x @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * x[:, 1] - p["cubic"] * x[:, 1] ** 3
    return x + dt * f + np.sqrt(dt) * noise
