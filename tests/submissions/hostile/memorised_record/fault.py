_step = step
RECORD = np.array(P["record"])


def step(state, t, dt, rng):
    new = _step(state, t, dt, rng)
    new[:, 1] += dt * (RECORD[int(t) % len(RECORD)] - new[:, 1])
    return new
