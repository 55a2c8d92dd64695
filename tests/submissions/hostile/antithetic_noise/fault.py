def step(state, t, dt, rng):
    half = rng.standard_normal(((len(state) + 1) // 2, 5))
    xi = np.concatenate([half, -half])[: len(state)]
    return state + dt * drift(state, t) + SIGMA * np.sqrt(dt) * xi
