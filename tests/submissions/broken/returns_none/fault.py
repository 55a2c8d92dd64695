_step = step


def step(state, t, dt, rng):
    state = _step(state, t, dt, rng)
