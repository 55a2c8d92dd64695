_step = step


def step(state, t, dt, rng):
    return np.squeeze(_step(state, t, dt, rng))
