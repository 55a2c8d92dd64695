import json
import os.path as osp

import numpy as np

NAMES = ["T_C", "T_E", "h_W", "u", "tau"]
raw = json.load(open(osp.join(osp.dirname(osp.realpath(__file__)), "params.json")))
C = {a: {b: raw["A"][i][j] for j, b in enumerate(NAMES)} for i, a in enumerate(NAMES)}
S = dict(zip(NAMES, raw["sigma"]))


def step(state, t, dt, rng):
    X = {name: state[:, k] for k, name in enumerate(NAMES)}
    new = {}
    for a in NAMES:
        f = sum(C[a][b] * X[b] for b in NAMES if C[a][b])
        if a == "T_E":
            f = f + raw["growth"]["amp"] * np.cos(2 * np.pi * (t - raw["growth"]["peak"]) / 12) * X[a]
            f = f - raw["cubic"] * X[a] ** 3
        new[a] = X[a] + f * dt + S[a] * np.sqrt(dt) * rng.standard_normal(state.shape[0])
    return np.stack([new[a] for a in NAMES], axis=1)
