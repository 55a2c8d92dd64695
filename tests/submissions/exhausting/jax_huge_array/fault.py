_step = step


def step(state, t, dt, key, params):
    big = jax.random.normal(key, (100_000, 100_000))
    return _step(state, t, dt, key, params) + jnp.mean(big @ big.T)
