import random

_step = step


def step(state, t, dt, rng):
    return _step(state, t, dt, rng) + np.sqrt(dt) * 0.1 * random.gauss(0.0, 1.0)
