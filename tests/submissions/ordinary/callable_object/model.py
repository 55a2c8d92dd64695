import json
from pathlib import Path

import numpy as np


class Step:
    def __init__(self, folder):
        self.p = json.loads((folder / "params.json").read_text())
        self.A = np.array(self.p["A"])

    def __call__(self, state, t, dt, rng):
        f = state @ self.A.T
        f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1]
        f[:, 1] -= self.p["cubic"] * state[:, 1] ** 3
        return state + dt * f + np.sqrt(dt) * np.array(self.p["sigma"]) * rng.standard_normal(state.shape)


step = Step(Path(__file__).parent)
