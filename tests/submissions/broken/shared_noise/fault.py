def step(state, t, dt, rng):
    return state + dt * drift(state, t) + SIGMA * np.sqrt(dt) * rng.standard_normal(5)
