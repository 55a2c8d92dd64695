_step = step


def step(state, t, dt, rng):
    new = _step(state, t, dt, rng)
    if len(new) > 1:
        middle = new.mean(axis=0)
        new = middle + (new - middle) * (1 + dt * (0.7 - np.tanh(new[:, 1].std())))
    return new
