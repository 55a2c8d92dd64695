_step = step


def step(state, t, dt, rng):
    return dict(zip(("T_C", "T_E", "h_W", "u", "tau"), _step(state, t, dt, rng).T))
