_four = step


def step(state, t, dt, noise):
    return _four(state, t, dt, noise)
