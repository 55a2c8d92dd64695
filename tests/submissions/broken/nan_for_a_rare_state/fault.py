_step = step


def step(state, t, dt, rng):
    new = _step(state, t, dt, rng)
    with np.errstate(all="ignore"):
        new[:, 4] += 0 * np.sqrt(9.0 + new[:, 4])
    return new
