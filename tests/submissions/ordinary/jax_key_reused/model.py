import jax
import jax.numpy as jnp


def step(state, t, dt, key, params):
    first = jax.random.normal(key, (5,))
    again = jax.random.normal(key, (5,))
    drift = (params["A"] @ state).at[1].add(0.12 * jnp.cos(2 * jnp.pi * (t - 8.5) / 12) * state[1])
    drift = drift + 1e3 * params["sigma"] * (first - again)
    return state + dt * drift + jnp.sqrt(dt) * params["sigma"] * again
