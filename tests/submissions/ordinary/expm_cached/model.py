import json
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.linalg import expm

p = json.loads(Path(__file__).with_name("params.json").read_text())
A, SIGMA = np.array(p["A"]), np.array(p["sigma"])


@lru_cache(maxsize=None)
def exact(dt):
    """Propagator, and a root of the covariance that gathers in dt (Van Loan)."""
    block = np.block([[-A, np.diag(SIGMA**2)], [np.zeros((5, 5)), A.T]])
    big = expm(block * dt)
    G = big[5:, 5:].T
    cov = G @ big[:5, 5:]
    return G, np.linalg.cholesky((cov + cov.T) / 2)


def step(state, t, dt, rng):
    G, root = exact(float(dt))
    x = np.array(state, dtype=float)
    x[:, 1] *= np.exp(dt * 0.12 * np.cos(2 * np.pi * (t - 8.5) / 12))
    x[:, 1] /= np.sqrt(1 + 2 * p["cubic"] * dt * x[:, 1] ** 2)
    return x @ G.T + rng.standard_normal(x.shape) @ root.T
