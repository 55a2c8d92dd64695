_step = step


def step(state, t, dt, rng):
    return np.asmatrix(_step(state, t, dt, rng))
