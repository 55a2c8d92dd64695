_step = step


def step(state, t, dt, rng):
    new = _step(state, t, dt, rng)
    new[:, 1] += dt * 0.05 * np.tanh(state[0, 1])
    return new
