import csv
import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
p = json.loads((HERE / "params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
SEASON = np.loadtxt(HERE / "data" / "season.csv", delimiter=",", skiprows=1)
with (HERE / "data" / "season.csv").open(newline="") as handle:
    WIND = np.array([float(row["wind"]) for row in csv.DictReader(handle)])


def step(state, t, dt, rng):
    month = int(np.floor(t)) % 12
    f = state @ A.T
    f[:, 1] += SEASON[month, 1] * state[:, 1] - p["cubic"] * state[:, 1] ** 3
    xi = rng.standard_normal(state.shape)
    xi[:, 4] *= WIND[month]
    return state + dt * f + np.sqrt(dt) * SIGMA * xi
