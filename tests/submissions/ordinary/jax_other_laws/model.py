import jax
import jax.numpy as jnp


def step(state, t, dt, key, params):
    k = jax.random.split(key, 6)
    sd = params["sigma"][:2]
    pair = jax.random.multivariate_normal(k[0], jnp.zeros(2), jnp.diag(sd**2) + 0.1 * jnp.outer(sd, sd))
    xi = jnp.array([
        jax.random.uniform(k[1], minval=-1.0, maxval=1.0) * jnp.sqrt(3.0),
        jnp.where(jax.random.bernoulli(k[2]), 1.0, -1.0),
        jax.random.exponential(k[3]) - 1.0 + 0.1 * (jax.random.randint(k[4], (), 0, 3) - 1.0),
    ])
    xi = xi + 0.01 * jax.random.t(k[5], 8.0)
    drift = (params["A"] @ state).at[1].add(0.12 * jnp.cos(2 * jnp.pi * (t - 8.5) / 12) * state[1])
    kick = jnp.concatenate([pair, params["sigma"][2:] * xi])
    return state + dt * drift + jnp.sqrt(dt) * kick
