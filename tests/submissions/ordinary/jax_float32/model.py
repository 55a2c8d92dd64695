import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def step(state, t, dt, key, params):
    x = state.astype(jnp.float32)
    A, sigma = params["A"].astype(jnp.float32), params["sigma"].astype(jnp.float32)
    season = jnp.asarray(0.12 * jnp.cos(2 * jnp.pi * (t - 8.5) / 12), jnp.float32)
    drift = (A @ x).at[1].add(season * x[1])
    h = jnp.asarray(dt, jnp.float32)
    return x + h * drift + jnp.sqrt(h) * sigma * jax.random.normal(key, (5,), dtype=jnp.float32)
