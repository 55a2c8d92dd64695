import json
from functools import partial
from pathlib import Path

import numpy as np


def advance(state, t, dt, rng, *, A, sigma, growth, cubic, corr):
    f = state @ A.T
    f[:, 1] += growth["amp"] * np.cos(2 * np.pi * (t - growth["peak"]) / 12) * state[:, 1]
    f[:, 1] -= cubic * state[:, 1] ** 3
    return state + dt * f + np.sqrt(dt) * sigma * rng.standard_normal(state.shape)


raw = json.loads(Path(__file__).with_name("params.json").read_text())
step = partial(advance, **{k: np.array(v) if isinstance(v, list) else v for k, v in raw.items()})
