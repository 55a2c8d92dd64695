import calendar
import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])
RATES = [-0.09, -0.12, -0.12, -0.09, -0.03, 0.02, 0.08, 0.11, 0.12, 0.09, 0.02, -0.04]
BY_NUMBER = {month: RATES[month - 1] for month in range(1, 13)}
WIND = {name: 1.0 for name in calendar.month_abbr[1:]} | {"Dec": 1.2, "Jan": 1.2, "Feb": 1.1}


def step(state, t, dt, rng):
    month = int(t // 1) % 12 + 1
    x = np.asarray(state)
    f = x @ A.T
    f[:, 1] += BY_NUMBER[month] * x[:, 1] - p["cubic"] * x[:, 1] ** 3
    xi = rng.standard_normal(x.shape)
    xi[:, 4] *= WIND[calendar.month_abbr[month]]
    return x + dt * f + np.sqrt(dt) * SIGMA * xi
