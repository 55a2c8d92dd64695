"""Claude Fable 5.1's final model: seasonal, nonlinear, with multiplicative noise.

`step` advances an ensemble (N, 5) of states [T_C, T_E, h_W, u, tau], in degC, degC, m, m/s
and m/s, from model time t to t + dt (months; t = 0 is 1 January) by the Euler-Maruyama scheme
in nondimensional variables. All numbers are in params.json.
"""

import json
from pathlib import Path

import numpy as np

PARAMS = json.loads(Path(__file__).with_name("params.json").read_text())

SCALES = np.array(PARAMS["scales"])
HARMONICS = np.array([1, 2, 3])
# What varies with the season: coefficients of [1, c1, s1, c2, s2, c3, s3], a row for each.
SEASONAL = np.array(list(PARAMS["seasonal"].values()))
# What does not: the linear couplings, row i for what each variable does to variable i.
LINEAR = np.array(PARAMS["linear"])
CONSTANT = np.array(PARAMS["constant"])


def seasonal_coefficients(t):
    """The rows of SEASONAL at time t; the harmonics peak in the middle of January."""
    angles = 2.0 * np.pi / 12.0 * (t - PARAMS["phase_months"]) * HARMONICS
    harmonics = np.ones(7)
    harmonics[1::2] = np.cos(angles)
    harmonics[2::2] = np.sin(angles)
    return SEASONAL @ harmonics


def saturating(square, scale):
    """x^2 near zero, scale^2 far from it."""
    return square / (1.0 + square / scale**2)


def step(state, t, dt, rng):
    """One step."""
    x = state / SCALES
    T_C, T_E, h_W = x[:, 0], x[:, 1], x[:, 2]
    hC, CC, hE, EE, EE2, hh, hu, noise_E, noise_h, noise_u, noise_tau = seasonal_coefficients(t)
    p, q = PARAMS["nonlinear"], PARAMS["noise"]
    C2, E2 = T_C * T_C, T_E * T_E

    drift = x @ LINEAR.T + CONSTANT
    drift[:, 0] += (
        hC * h_W
        + CC * T_C
        + C2 * (p["T_C^2"] + p["T_C^2, T_C > 0"] * (T_C > 0.0) + p["T_C^3"] * T_C)
    )
    drift[:, 1] += (
        hE * h_W + EE * T_E + EE2 * saturating(E2, p["T_E scale"]) + p["T_E^3"] * E2 * T_E
    )
    drift[:, 2] += (
        hh * h_W + p["h_W: T_E^2"] * saturating(E2, p["h_W: T_E scale"]) + p["h_W^3"] * h_W**3
    )
    drift[:, 3] += hu * h_W

    noise = rng.standard_normal(x.shape)
    floor = q["floor"]
    noise[:, 0] *= (
        q["T_C"]
        * np.maximum(1.0 + q["T_C: T_C"] * T_C, floor)
        * np.maximum(1.0 + q["T_C: T_C^2"] * C2, floor)
    )
    noise[:, 1] *= noise_E * np.clip(1.0 + q["T_E: T_E"] * T_E, floor, q["T_E ceiling"])
    noise[:, 2] *= noise_h * np.maximum(1.0 + q["h_W: h_W"] * h_W, floor)
    noise[:, 3] *= noise_u
    noise[:, 4] *= noise_tau * np.maximum(1.0 + q["tau: T_C"] * T_C, floor)

    d = dt / PARAMS["time_unit_months"]
    new = x + d * drift + np.sqrt(d) * noise
    return np.clip(new, -PARAMS["bound"], PARAMS["bound"]) * SCALES
