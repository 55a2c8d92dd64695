import json
from pathlib import Path

import numpy as np

_p = json.loads((Path(__file__).parent / "params.json").read_text())
SIGMA = np.array(_p["sigma"])
_A = np.array(_p["A"])


def tendency(x, t):
    f = x @ _A.T
    f[:, 1] += _p["growth"]["amp"] * np.cos(2 * np.pi * (t - _p["growth"]["peak"]) / 12) * x[:, 1]
    f[:, 1] -= _p["cubic"] * x[:, 1] ** 3
    return f
