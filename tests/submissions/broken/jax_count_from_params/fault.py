_step = step


def step(state, t, dt, key, params):
    n = params["substeps"]
    for k in range(n):
        key, now = jax.random.split(key)
        state = _step(state, t + k * dt / n, dt / n, now, params)
    return state
