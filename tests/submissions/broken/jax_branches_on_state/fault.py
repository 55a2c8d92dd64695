_step = step


def step(state, t, dt, key, params):
    new = _step(state, t, dt, key, params)
    if new[1] > 1.5:
        new = new.at[1].add(-0.05 * dt)
    return new
