def step(state, t, dt, rng):
    return state + dt * drift(state, t)
