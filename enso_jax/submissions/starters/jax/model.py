"""A seasonal linear recharge oscillator with multiplicative noise.

`step` advances one state (5,), [T_C, T_E, h_W, u, tau] in degC, degC, m, m/s and m/s, from
model time t to t + dt (months; t = 0 is 1 January). `params` is params.json, its numbers and
lists as arrays. All random numbers come from `key`.
"""

import jax
import jax.numpy as jnp

T_C, T_E, H_W, U, TAU = range(5)


def season(t, cycle):
    """The annual cycle of a coefficient; harmonics peak in the middle of January."""
    angle = 2.0 * jnp.pi * (t - 0.5) / 12.0
    return cycle["cos"] * jnp.cos(angle) + cycle["sin"] * jnp.sin(angle)


def drift(x, t, params):
    """The nondimensional tendency: linear couplings, and seasonal growth of the two SSTs."""
    tendency = params["drift"] @ x
    tendency = tendency.at[T_C].add(season(t, params["season_T_C"]) * x[T_C])
    return tendency.at[T_E].add(season(t, params["season_T_E"]) * x[T_E])


def amplitude(x, params):
    """Noise grows with warm water: this is what skews T_E and makes strong El Ninos."""
    east, wind = params["noise_T_E"], params["noise_tau"]
    factor_E = jnp.clip(1.0 + east["slope"] * x[T_E], east["floor"], east["ceiling"])
    factor_tau = jnp.maximum(1.0 + wind["slope"] * x[T_C], wind["floor"])
    return params["noise"].at[T_E].multiply(factor_E).at[TAU].multiply(factor_tau)


def step(state, t, dt, key, params):
    """One Euler-Maruyama step."""
    x = state / params["scales"]
    d = dt / params["time_scale"]
    noise = jax.random.normal(key, x.shape)
    new = x + drift(x, t, params) * d + amplitude(x, params) * jnp.sqrt(d) * noise
    return new * params["scales"]
