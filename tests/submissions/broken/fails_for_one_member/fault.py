_step = step


def step(state, t, dt, rng):
    if len(state) == 1:
        raise ValueError("an ensemble has at least two members")
    return _step(state, t, dt, rng)
