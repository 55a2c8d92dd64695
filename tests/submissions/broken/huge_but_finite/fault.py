_step = step


def step(state, t, dt, rng):
    return np.clip(1e200 * _step(np.clip(state, -5, 5), t, dt, rng), -1e200, 1e200)
