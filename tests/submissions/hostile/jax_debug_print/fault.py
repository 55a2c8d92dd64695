_step = step


def step(state, t, dt, key, params):
    jax.debug.print("state {s} at {t}", s=state, t=t)
    return _step(state, t, dt, key, params)
