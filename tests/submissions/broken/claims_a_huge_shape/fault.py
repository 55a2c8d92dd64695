def step(state, t, dt, rng):
    return np.broadcast_to(np.float64(0.0), (10**12, 5))
