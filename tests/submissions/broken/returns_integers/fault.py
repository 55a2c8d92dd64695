_step = step


def step(state, t, dt, rng):
    return np.rint(_step(state, t, dt, rng)).astype(int)
