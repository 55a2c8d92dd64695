import jax
import jax.numpy as jnp

INDEX = {"T_C": 0, "T_E": 1}


def step(state, t, dt, key, params):
    operator = jnp.concatenate([params["operator"]["ocean"], params["operator"]["fast"]])
    drift = operator @ state
    for process in params["seasonal"]:
        rate = process["amp"] * jnp.cos(2 * jnp.pi * (t - process["peak"]) / 12)
        i = INDEX[process["variable"]]
        drift = drift.at[i].add(rate * state[i])
    sigma = jnp.concatenate([params["noise"]["sigma"][k] for k in ("ocean", "fast")])
    if params["noise"]["kind"] == "white" and params["about"]["reference"] is None:
        drift = drift.at[1].add(-0.01 * state[1] ** 3)
    return state + dt * drift + jnp.sqrt(dt) * sigma * jax.random.normal(key, state.shape)
