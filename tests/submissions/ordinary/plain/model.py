"""A damped seasonal recharge model, by Euler-Maruyama."""
import json
import os

import numpy as np

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "params.json")) as handle:
    P = json.load(handle)

A = np.array(P["A"])
SIGMA = np.array(P["sigma"])


def drift(x, t):
    season = P["growth"]["amp"] * np.cos(2 * np.pi * (t - P["growth"]["peak"]) / 12)
    f = x @ A.T
    f[:, 1] += season * x[:, 1] - P["cubic"] * x[:, 1] ** 3
    return f


def step(state, t, dt, rng):
    x = np.asarray(state, dtype=float)
    return x + dt * drift(x, t) + SIGMA * np.sqrt(dt) * rng.standard_normal(x.shape)
