import jax.numpy as jnp


def seasonal(T, t, params):
    return 0.12 * jnp.cos(2 * jnp.pi * (t - 8.5) / 12) * T - params["cubic"] * T**3
