def step(state, t, dt, rng):
    return state + np.zeros((10**12, 1)).sum()
