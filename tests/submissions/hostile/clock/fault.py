import time

_step = step


def step(state, t, dt, rng):
    return _step(state, t, dt, rng) * (1 + 0.01 * dt * np.sin(1e3 * time.time()))
