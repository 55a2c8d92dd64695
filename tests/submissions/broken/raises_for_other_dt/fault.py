_step = step


def step(state, t, dt, rng):
    if abs(dt - 1 / 30) > 1e-9:
        raise ValueError("this model needs dt = 1/30")
    return _step(state, t, dt, rng)
