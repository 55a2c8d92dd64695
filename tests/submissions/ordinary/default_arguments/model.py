import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())


def tendency(x, t, *, A=np.array(p["A"]), amp=p["growth"]["amp"], peak=p["growth"]["peak"], cubic=p["cubic"]):
    f = x @ A.T
    f[:, 1] += amp * np.cos(2 * np.pi * (t - peak) / 12) * x[:, 1] - cubic * x[:, 1] ** 3
    return f


def kick(shape, dt, rng, sigma=tuple(p["sigma"])):
    return np.asarray(sigma) * np.sqrt(dt) * rng.standard_normal(shape)


def step(state, t, dt, rng, /):
    return state + dt * tendency(state, t) + kick(state.shape, dt, rng)
