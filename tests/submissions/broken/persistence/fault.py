def step(state, t, dt, rng):
    return state
