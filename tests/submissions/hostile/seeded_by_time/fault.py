def step(state, t, dt, rng):
    own = np.random.default_rng(int(1000 * t))
    return state + dt * drift(state, t) + SIGMA * np.sqrt(dt) * own.standard_normal(5)
