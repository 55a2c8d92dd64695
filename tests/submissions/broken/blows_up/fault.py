_step = step


def step(state, t, dt, rng):
    with np.errstate(all="ignore"):
        return _step(state, t, dt, rng) + dt * (state + 0.1 * state**3)
