import numpy as np


def step(state, t, dt, key, params):
    return jnp.asarray(np.tanh(np.asarray(state)))
