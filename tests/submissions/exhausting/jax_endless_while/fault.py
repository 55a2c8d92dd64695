_step = step


def step(state, t, dt, key, params):
    new = _step(state, t, dt, key, params)

    def turn(carry):
        count, x = carry
        return count + jnp.cos(1e-9 * x[0]), x + 1e-30 * jnp.sin(x)

    return jax.lax.while_loop(lambda c: c[0] < 2e9, turn, (0.0 * new[0], new))[1]
