_step = step


def step(state, t, dt, rng):
    with np.errstate(all="ignore"):
        return _step(state, t, dt, rng) + 0 * state / np.abs(state)
