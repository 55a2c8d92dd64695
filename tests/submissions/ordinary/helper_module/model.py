import numpy as np
from physics import SIGMA, tendency


def step(state, t, dt, rng):
    return state + dt * tendency(state, t) + SIGMA * np.sqrt(dt) * rng.standard_normal(state.shape)
