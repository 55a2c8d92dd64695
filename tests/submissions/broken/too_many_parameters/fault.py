_four = step


def step(state, t, dt, rng, params):
    return _four(state, t, dt, rng)
