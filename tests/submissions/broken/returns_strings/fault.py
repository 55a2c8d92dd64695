_step = step


def step(state, t, dt, rng):
    return [[f"{value:.6f}" for value in row] for row in _step(state, t, dt, rng)]
