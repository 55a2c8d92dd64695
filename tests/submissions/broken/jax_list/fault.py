_step = step


def step(state, t, dt, key, params):
    return list(_step(state, t, dt, key, params))
