_step = step
_calls = 0


def step(state, t, dt, rng):
    global _calls
    _calls += 1
    new = _step(state, t, dt, rng)
    return state + (new - state) * (0.5 + 0.5 / _calls)
