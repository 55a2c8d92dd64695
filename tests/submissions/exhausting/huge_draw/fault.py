_step = step


def step(state, t, dt, rng):
    return _step(state, t, dt, rng) + rng.standard_normal((100_000, 100_000)).mean()
