import numpy as np

from .parameters import P

SIGMA = np.array(P["sigma"])


def kick(x, dt, rng):
    return SIGMA * np.sqrt(dt) * rng.standard_normal(x.shape)
