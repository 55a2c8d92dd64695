import json
import math
from pathlib import Path

p = json.loads(Path(__file__).with_name("params.json").read_text())


def step(state, t, dt, rng):
    rate = 0.12 * math.cos(2 * math.pi * (t - 8.5) / 12)
    result = []
    for x in state.tolist():
        f = [sum(a * v for a, v in zip(row, x)) for row in p["A"]]
        f[1] += rate * x[1] - p["cubic"] * x[1] ** 3
        xi = rng.standard_normal(5).tolist()
        kick = [s * math.sqrt(dt) * z for s, z in zip(p["sigma"], xi)]
        result.append([v + dt * g + k for v, g, k in zip(x, f, kick)])
    return result
