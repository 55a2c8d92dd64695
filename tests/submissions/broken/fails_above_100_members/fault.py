_step = step
WORK = np.zeros((100, 5))


def step(state, t, dt, rng):
    WORK[: len(state)] = 0.0
    return _step(state, t, dt, rng) + WORK[np.arange(len(state))]
