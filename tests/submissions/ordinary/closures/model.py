import json
import math
from functools import reduce
from pathlib import Path

import numpy as np


def linear(matrix):
    return lambda x, t: x @ np.asarray(matrix).T


def only(column, rate):
    def process(x, t):
        out = np.zeros_like(x)
        out[:, column] = rate(x[:, column], t)
        return out

    return process


def build(p):
    amp, peak, cubic = p["growth"]["amp"], p["growth"]["peak"], p["cubic"]
    processes = [
        linear(p["A"]),
        only(1, lambda T, t: amp * math.cos(2 * math.pi * (t - peak) / 12) * T),
        only(1, lambda T, t: -cubic * T**3),
    ]
    sigma = np.array(p["sigma"])

    def step(state, t, dt, rng):
        x = np.asarray(state)
        tendency = reduce(np.add, (process(x, t) for process in processes))
        return x + dt * tendency + math.sqrt(dt) * sigma * rng.normal(size=x.shape)

    return step


step = build(json.loads((Path(__file__).parent / "params.json").read_text()))
