_step = step


def step(state, t, dt, key, params):
    new = _step(state, t, dt, key, params)
    return jax.lax.fori_loop(0, 2_000_000_000, lambda k, x: x + 1e-30 * jnp.sin(x), new)
