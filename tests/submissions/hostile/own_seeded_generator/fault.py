_own = np.random.default_rng(12345)


def step(state, t, dt, rng):
    return state + dt * drift(state, t) + SIGMA * np.sqrt(dt) * _own.standard_normal(state.shape)
