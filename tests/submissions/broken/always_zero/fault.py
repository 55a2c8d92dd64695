def step(state, t, dt, rng):
    return np.zeros_like(state)
