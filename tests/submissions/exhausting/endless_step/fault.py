import time

_step = step


def step(state, t, dt, rng):
    if t > 600:
        end = time.monotonic() + 3600
        while time.monotonic() < end:
            pass
    return _step(state, t, dt, rng)
