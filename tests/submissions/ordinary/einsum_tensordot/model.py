import json
from pathlib import Path

import numpy as np

p = json.loads(Path(__file__).with_name("params.json").read_text())
SCALE = np.array([0.6, 0.9, 13.0, 0.13, 2.7])
FOURIER = np.zeros((3, 5, 5))
FOURIER[0] = np.array(p["A"]) * SCALE / SCALE[:, np.newaxis]
FOURIER[1, 1, 1], FOURIER[2, 1, 1] = -0.031, -0.116
CUBIC = np.zeros((5, 5, 5, 5))
CUBIC[1, 1, 1, 1] = -p["cubic"] * 0.81
SIGMA = np.array(p["sigma"]) / SCALE


def step(state, t, dt, rng):
    z = state / SCALE
    w = 2 * np.pi * t / 12
    L = np.tensordot(np.array([1.0, np.cos(w), np.sin(w)]), FOURIER, axes=1)
    f = np.einsum("ij,nj->ni", L, z) + np.einsum("ijkl,nj,nk,nl->ni", CUBIC, z, z, z, optimize=True)
    z = z + dt * f + np.sqrt(dt) * np.einsum("i,...i->...i", SIGMA, rng.standard_normal(z.shape))
    return z * SCALE
