np.seterr(all="raise")
_step = step


def step(state, t, dt, rng):
    new = _step(state, t, dt, rng)
    new[:, 4] += 0 * np.sqrt(7.0 + new[:, 4])
    return new
