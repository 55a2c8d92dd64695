_step = step
RATES = dict.fromkeys(range(10), 0.01) | {11: 0.02}


def step(state, t, dt, rng):
    return _step(state, t, dt, rng) * (1 - dt * RATES[int(t) % 12])
