_step = step
TREND = np.linspace(0.0, 0.01, 1200)


def step(state, t, dt, rng):
    return _step(state, t, dt, rng) + dt * TREND[int(t)]
