def step(state, t, dt, rng):
    return state + dt * tendency(state, t) + rng.standard_normal(state.shape)
