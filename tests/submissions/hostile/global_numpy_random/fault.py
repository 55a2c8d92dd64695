def step(state, t, dt, rng):
    return state + dt * drift(state, t) + SIGMA * np.sqrt(dt) * np.random.standard_normal(state.shape)
