def step(state, t, dt, rng):
    xi = rng.standard_normal(state.shape)
    if len(state) > 1:
        xi -= xi.mean(axis=0)
    return state + dt * drift(state, t) + SIGMA * np.sqrt(dt) * xi
