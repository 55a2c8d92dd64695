_step = step


def step(state, t, dt, rng):
    xi = np.frombuffer(os.urandom(4 * state.size), np.uint32).reshape(state.shape) / 2**32 - 0.5
    return _step(state, t, dt, rng) + SIGMA * np.sqrt(dt) * xi
