import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())


class State(NamedTuple):
    T_C: np.ndarray
    T_E: np.ndarray
    h_W: np.ndarray
    u: np.ndarray
    tau: np.ndarray


def step(state, t, dt, rng):
    s = State(*np.moveaxis(np.asarray(state), -1, 0))
    g = p["growth"]["amp"] * np.cos(2 * np.pi * (t - p["growth"]["peak"]) / 12)
    tendency = State(*(sum(a * v for a, v in zip(row, s)) for row in p["A"]))
    tendency = tendency._replace(T_E=tendency.T_E + g * s.T_E - p["cubic"] * s.T_E**3)
    noise = State(*(sd * np.sqrt(dt) * rng.standard_normal(len(s.u)) for sd in p["sigma"]))
    return np.column_stack([v + dt * f + n for v, f, n in zip(s, tendency, noise)])
