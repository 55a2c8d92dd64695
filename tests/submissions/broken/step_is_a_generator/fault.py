_four = step


def step(state, t, dt, rng):
    yield _four(state, t, dt, rng)
