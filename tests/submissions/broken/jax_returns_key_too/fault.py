_step = step


def step(state, t, dt, key, params):
    return _step(state, t, dt, key, params), key
