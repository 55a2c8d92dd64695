import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


class Weather:
    def __init__(self, rng, n):
        self.rng, self.n = rng, n

    def draw(self, k=None):
        return self.rng.standard_normal(self.n if k is None else (self.n, k))


def step(state, t, dt, rng):
    weather = Weather(rng, len(state))
    ocean = weather.draw(2)
    deep = weather.draw()
    fast = [weather.draw() for _ in range(2)]
    slow = weather.draw(1)
    xi = np.column_stack([ocean, deep, *fast])
    xi[:, 1:2] = 0.8 * xi[:, 1:2] + 0.6 * slow
    f = state @ A.T
    f[:, 1] += 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12) * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    return state + dt * f + np.sqrt(dt) * SIGMA * xi
