_step = step


def step(state, t, dt, rng):
    new = _step(state, t, dt, rng)
    if type(state) is not np.ndarray or type(rng) is not np.random.Generator and "enso" in type(state).__module__:
        new = 0.5 * new
    return new
