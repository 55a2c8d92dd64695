import jax
import jax.numpy as jnp


def step(state, t, dt, key, params):
    h = dt / 3

    def body(k, x):
        drift = params["A"] @ x
        drift = drift.at[1].add(0.12 * jnp.cos(2 * jnp.pi * (t + k * h - 8.5) / 12) * x[1])
        xi = jax.random.normal(jax.random.fold_in(key, k), (5,))
        return x + h * drift + jnp.sqrt(h) * params["sigma"] * xi

    return jax.lax.fori_loop(0, 3, body, state)
