_step = step
_table = np.random.default_rng(0).standard_normal((2**16, 1024))


def step(state, t, dt, rng):
    return _step(state, t, dt, rng) + 1e-3 * dt * _table[int(t), :5]
