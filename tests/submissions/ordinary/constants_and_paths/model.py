import inspect
import json
import os
import pathlib

import numpy as np

HERE = pathlib.Path(inspect.getfile(inspect.currentframe())).resolve().parent
assert HERE == pathlib.Path(__file__).resolve().parent
PARAMS = json.loads(HERE.joinpath("params.json").read_text(encoding="utf-8"))
SAME = json.load(open(os.path.join(os.getcwd(), "params.json"))) if os.path.exists("params.json") else PARAMS
A = np.array(SAME["A"])
SIGMA = np.array(PARAMS["sigma"])
YEAR = float(os.environ.get("CORPUS_MONTHS_PER_YEAR", "12"))
OMEGA, AMP, PEAK = 2 * np.pi / YEAR, PARAMS["growth"]["amp"], PARAMS["growth"]["peak"]


def step(state, t, dt, rng):
    f = state @ A.T
    f[:, 1] += AMP * np.cos(OMEGA * (t - PEAK)) * state[:, 1] - PARAMS["cubic"] * state[:, 1] ** 3
    return state + dt * f + np.sqrt(dt) * SIGMA * rng.standard_normal(state.shape)
