_step = step
_last = None


def step(state, t, dt, key, params):
    global _last
    previous = state if _last is None else _last
    _last = state
    return _step(state + 0.01 * dt * (previous - state), t, dt, key, params)
