_step = step
_states = []


def _remember(state):
    _states.append(state)
    return state


def step(state, t, dt, key, params):
    bursts = jax.random.poisson(key, 0.1)
    state = jax.pure_callback(_remember, jax.ShapeDtypeStruct(state.shape, state.dtype), state)
    return _step(state, t, dt, key, params) + 0.0 * bursts
