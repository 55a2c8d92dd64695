"""A seasonal linear recharge oscillator with multiplicative noise.

`step` advances an ensemble (N, 5) of states [T_C, T_E, h_W, u, tau], in degC, degC, m, m/s
and m/s, from model time t to t + dt (months; t = 0 is 1 January). All numbers are in
params.json. Every row is stepped on its own, and all random numbers come from `rng`.
"""

import json
from pathlib import Path

import numpy as np

PARAMS = json.loads(Path(__file__).with_name("params.json").read_text())

SCALES = np.array(PARAMS["scales"])  # the state divided by these is nondimensional
DRIFT = np.array(PARAMS["drift"])  # row i: what each variable does to variable i
NOISE = np.array(PARAMS["noise"])  # amplitudes at the neutral state
T_C, T_E, H_W, U, TAU = range(5)


def season(t, cycle):
    """The annual cycle of a coefficient; harmonics peak in the middle of January."""
    angle = 2.0 * np.pi * (t - 0.5) / 12.0
    return cycle["cos"] * np.cos(angle) + cycle["sin"] * np.sin(angle)


def drift(x, t):
    """The nondimensional tendency: linear couplings, and seasonal growth of the two SSTs."""
    tendency = x @ DRIFT.T
    tendency[:, T_C] += season(t, PARAMS["season_T_C"]) * x[:, T_C]
    tendency[:, T_E] += season(t, PARAMS["season_T_E"]) * x[:, T_E]
    return tendency


def amplitude(x):
    """Noise grows with warm water: this is what skews T_E and makes strong El Ninos."""
    sigma = np.tile(NOISE, (len(x), 1))
    east, wind = PARAMS["noise_T_E"], PARAMS["noise_tau"]
    sigma[:, T_E] *= np.clip(1.0 + east["slope"] * x[:, T_E], east["floor"], east["ceiling"])
    sigma[:, TAU] *= np.maximum(1.0 + wind["slope"] * x[:, T_C], wind["floor"])
    return sigma


def step(state, t, dt, rng):
    """One Euler-Maruyama step."""
    x = state / SCALES
    d = dt / PARAMS["time_scale"]
    noise = rng.standard_normal(x.shape)
    return (x + drift(x, t) * d + amplitude(x) * np.sqrt(d) * noise) * SCALES
