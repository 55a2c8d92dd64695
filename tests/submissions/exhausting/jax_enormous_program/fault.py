_step = step


def step(state, t, dt, key, params):
    new = _step(state, t, dt, key, params)
    for k in range(300_000):
        new = new + 1e-30 * jnp.sin(new + k)
    return new
