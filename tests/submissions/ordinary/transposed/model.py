import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])[:, None]


def step(state, t, dt, rng):
    x = state.T.copy()
    T_C, T_E, h_W, u, tau = x
    f = A @ x
    f[1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * T_E - p["cubic"] * T_E**3
    f[0] -= 0.002 * T_C * np.abs(T_C)
    return (x + dt * f + np.sqrt(dt) * SIGMA * rng.standard_normal(x.shape)).T
