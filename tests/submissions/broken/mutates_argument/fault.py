_step = step


def step(state, t, dt, rng):
    state[...] = _step(state.copy(), t, dt, rng)
    return state
