import jax
import jax.numpy as jnp


def step(state, t, dt, key, params):
    growth = params["growth"]
    season = growth["amp"] * jnp.cos(2 * jnp.pi * (t - growth["peak"]) / 12)
    drift = params["A"] @ state
    drift = drift.at[1].add(season * state[1] - params["cubic"] * state[1] ** 3)
    return state + dt * drift + params["sigma"] * jnp.sqrt(dt) * jax.random.normal(key, (5,))
