_step = step


def step(state, t, dt, key, params):
    return jnp.rint(_step(state, t, dt, key, params)).astype(jnp.int32)
