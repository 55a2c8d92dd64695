import jax
import jax.numpy as jnp
from jax.scipy.special import erf


def step(state, t, dt, key, params):
    phase = 2 * jnp.pi * t / 12
    x = jnp.concatenate([state / params["scale"], jnp.array([jnp.cos(phase), jnp.sin(phase)])])
    first, last = params["layers"]
    hidden = jax.nn.softplus(first["w"] @ x + first["b"]) * jax.nn.sigmoid(x[1]) + jax.nn.relu(x[0])
    drift = params["A"] @ state + 0.2 * params["scale"] * jnp.tanh(last["w"] @ hidden + last["b"])
    drift = drift.at[1].add(-0.05 * erf(state[1] / 3) * state[1] ** 2)
    return state + dt * drift + jnp.sqrt(dt) * params["sigma"] * jax.random.normal(key, (5,))
