import numpy as np


def step(state, t, dt, key, params):
    return np.zeros((5,), dtype=jax.dtypes.float0)
