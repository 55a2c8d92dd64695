import jax
import jax.numpy as jnp

RATES = jnp.array([-0.09, -0.12, -0.12, -0.09, -0.03, 0.02, 0.08, 0.11, 0.12, 0.09, 0.02, -0.04])


def step(state, t, dt, key, params):
    slow, fast = jax.random.split(key)
    T_C, T_E, h_W, u, tau = state
    month = jnp.floor(t).astype(int) % 12
    f_C, f_E, f_h, f_u, f_tau = params["A"] @ state
    f_E = f_E + jnp.where(T_E > 1.5, -0.05 * (T_E - 1.5), 0.0) + RATES[month] * T_E
    xi = jnp.concatenate([jax.random.normal(slow, (3,)), jax.random.normal(fast, (2,))])
    drift = jnp.stack([f_C, f_E, f_h, f_u, f_tau])
    return state + dt * drift + jnp.sqrt(dt) * params["sigma"] * xi
