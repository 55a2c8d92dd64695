import jax
import jax.numpy as jnp
from jax import lax


def step(state, t, dt, key, params):
    h = dt / 4

    def substep(carry, key):
        x, now = carry
        drift = params["A"] @ x
        season = 0.12 * jnp.cos(2 * jnp.pi * (now - 8.5) / 12)
        drift = drift.at[1].add(season * x[1] - params["cubic"] * x[1] ** 3)
        x = x + h * drift + jnp.sqrt(h) * params["sigma"] * jax.random.normal(key, (5,))
        return (x, now + h), None

    (state, _), _ = lax.scan(substep, (state, jnp.asarray(t, state.dtype)), jax.random.split(key, 4))
    return state
