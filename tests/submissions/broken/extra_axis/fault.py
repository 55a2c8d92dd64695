_step = step


def step(state, t, dt, rng):
    return _step(state, t, dt, rng)[np.newaxis]
