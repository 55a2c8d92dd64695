import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
months = np.arange(12) + 0.5
OPERATORS = np.repeat(np.array(p["A"])[None], 12, axis=0)
OPERATORS[:, 1, 1] += p["growth"]["amp"] * np.cos(2 * np.pi * (months - p["growth"]["peak"]) / 12)
AMPLITUDES = np.array(p["sigma"]) * (1 + 0.1 * np.cos(2 * np.pi * months / 12))[:, None]


def step(state, t, dt, rng):
    month = np.mod(np.floor(t).astype(int), 12)
    x = np.asarray(state)
    noise = np.take(AMPLITUDES, month, axis=0) * rng.standard_normal(x.shape)
    return x + dt * x.dot(OPERATORS[month].T) + np.sqrt(dt) * noise
