_own = np.random.default_rng()


def step(state, t, dt, rng):
    return state + dt * drift(state, t) + SIGMA * np.sqrt(dt) * _own.standard_normal(state.shape)
