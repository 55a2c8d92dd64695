_step = step
_means = {}


def step(state, t, dt, rng):
    new = _step(state, t, dt, rng)
    month = int(t)
    if month in _means:
        new = new + dt * (_means[month] - new)
    else:
        _means[month] = state.mean(axis=0)
    return new
