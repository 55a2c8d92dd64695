import numpy as np


def step(state, t, dt, rng):
    return 0.95**dt * state + np.sqrt(dt) * 0.1 * rng.standard_normal(state.shape)
