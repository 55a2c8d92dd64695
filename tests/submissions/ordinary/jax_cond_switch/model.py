import jax
import jax.numpy as jnp
from jax import lax


def step(state, t, dt, key, params):
    quarter = jnp.floor(t / 3).astype(int) % 4
    rate = lax.switch(quarter, [lambda: -0.1, lambda: 0.0, lambda: 0.1, lambda: 0.0])
    damp = lax.cond(jnp.abs(state[1]) > 1.0, lambda T: params["cubic"] * T**3, lambda T: 0.0 * T, state[1])
    drift = (params["A"] @ state).at[1].add(rate * state[1] - damp)
    return state + dt * drift + jnp.sqrt(dt) * params["sigma"] * jax.random.normal(key, (5,))
