def step(state, t, dt, rng):
    gain = 0.5 if len(state) < 100 else 1.2
    return state + dt * drift(state, t) + gain * SIGMA * np.sqrt(dt) * rng.standard_normal(state.shape)
