import jax
import jax.numpy as jnp
from jax.scipy.linalg import expm
from processes import seasonal


@jax.jit
def step(state, t, dt, key, params):
    moved = expm(params["A"] * dt) @ state
    moved = moved.at[1].add(dt * seasonal(state[1], t, params))
    kick = jax.vmap(lambda s, k: s * jax.random.normal(k))(params["sigma"], jax.random.split(key, 5))
    return moved + jnp.sqrt(dt) * kick
