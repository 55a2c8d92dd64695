_step = step


def step(state, t, dt, key, params):
    own = jax.random.key(jnp.floor(30 * jnp.asarray(t)).astype(jnp.uint32))
    return _step(state, t, dt, own, params)
