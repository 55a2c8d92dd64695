_four = step


def step(state, t, dt, rng, *, scheme):
    return _four(state, t, dt, rng)
