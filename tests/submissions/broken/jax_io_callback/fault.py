from jax.experimental import io_callback

_step = step
_states = []


def step(state, t, dt, key, params):
    io_callback(_states.append, None, state)
    return _step(state, t, dt, key, params)
