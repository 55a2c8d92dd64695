def step(state, t, dt, rng):
    return step(state, t, dt / 2, rng)
