"""The printed models once more, as plain NumPy: what the compiled ones are compared with.

Written from the printed equations alone - Appendix E.1 of the paper, and the multiscale
model of Chen, Fang & Yu 2022 - in their own order of variables (u, h_W, T_C, T_E, tau)
and their own unit of time, two months. Members come last.
"""

from collections.abc import Callable

import numpy as np

#: Physical units of T_C, T_E, h_W, u, tau, in the engine's order.
SCALES = np.array([7.5, 7.5, 150.0, 1.5, 5.0])
MONTHS_PER_UNIT = 2.0

Tendency = Callable[..., tuple[np.ndarray, np.ndarray]]


def fable(x, t_months):
    """Equation 11: nondimensional drift and noise amplitude at ``x`` (5, ...)."""
    T_C, T_E, h_W, u, tau = x
    c1, s1, c2, s2, _, _ = _harmonics(t_months)
    du = -0.917 * u + (0.85 + 0.17 * c1 + 0.425 * s1) * h_W - 0.402 * T_C + 0.26 * T_E + 0.114 * tau
    dh_W = (
        -0.164 * u
        + (-0.164 + 0.1044 * c1 - 0.08738 * s1) * h_W
        + 0.09686 * T_C
        - 0.15 * T_E
        - 0.07482 * tau
        - 0.3 * T_E**2 / (1 + (T_E / 0.4) ** 2)
        - 1.184 * h_W**3
        + 0.00484
    )
    dT_C = (
        0.1628 * u
        + (0.1073 + 0.01866 * c1 + 0.03 * s1) * h_W
        + (-0.25 + 0.09 * c1 - 0.24 * s1) * T_C
        + 0.121 * T_E
        + 0.0853 * tau
        - 1.02 * T_C**2
        - 0.75 * T_C**2 * (T_C > 0)
        - 7.181 * T_C**3
        + 0.004
    )
    dT_E = (
        0.2403 * u
        + (0.05899 + 0.1 * s1) * h_W
        - 0.1399 * T_C
        + (-0.151 - 0.006228 * c1 - 0.27 * s1 - 0.12 * c2 - 0.15 * s2) * T_E
        + 0.1285 * tau
        + (0.505 - 0.606 * s1) * T_E**2 / (1 + (T_E / 0.35) ** 2)
        - 1.038 * T_E**3
        - 0.00626
    )
    dtau = 0.3296 * u - 0.2758 * h_W + 3.062 * T_C - 1.118 * T_E - 0.9918 * tau
    return np.array([dT_C, dT_E, dh_W, du, dtau]), _fable_noise(x, t_months)


def fable_simplified(x, t_months):
    """Equation 12, with the noise of the original model."""
    T_C, T_E, h_W, u, tau = x
    c1, s1, c2, s2, _, _ = _harmonics(t_months)
    du = -0.8523968 * u + 0.9358338 * h_W - 0.4152634 * T_C + 0.2980273 * T_E + 0.1134559 * tau
    dh_W = (
        -0.1834501 * u
        - 0.2025177 * h_W
        + 0.1094091 * T_C
        - 0.2023363 * T_E
        - 0.07096293 * tau
        + 0.00227347
    )
    dT_C = (
        0.1524918 * u
        + 0.1193508 * h_W
        + (-0.3096332 + 0.03899662 * c1 - 0.2438837 * s1) * T_C
        + 0.09620686 * T_E
        + 0.0811469 * tau
        - 0.003035909
    )
    growth_E = -0.1736369 - 0.02538335 * c1 - 0.3242342 * s1 - 0.123943 * c2 - 0.1380168 * s2
    dT_E = (
        0.2445608 * u
        + 0.07082664 * h_W
        - 0.1592483 * T_C
        + growth_E * T_E
        + 0.1280047 * tau
        - 0.00205137
    )
    dtau = 0.3361003 * u - 0.2772871 * h_W + 3.029652 * T_C - 1.102882 * T_E - 0.9893288 * tau
    return np.array([dT_C, dT_E, dh_W, du, dtau]), _fable_noise(x, t_months)


def multiscale(x, t_months, I=2.0):  # noqa: E741
    """Equations 1a-1e of Chen, Fang & Yu with the parameters called `multiscale_aci`."""
    T_C, T_E, h_W, u, tau = x
    t = t_months / MONTHS_PER_UNIT
    year = 2 * np.pi * t / 6
    factor, gamma, r, b0, mu = 0.65, 0.4875, 0.1625, 2.5, 0.5
    a1, a2 = 0.02640625, 0.08125
    c1 = (25 * (T_C + 0.1) ** 2 + 0.9) * (1 + 0.3 * np.sin(year - np.pi / 6)) * factor
    c2 = 1.4 * factor * (1 + 0.3 * np.sin(year + np.pi / 3) + 0.25 * np.sin(2 * year + np.pi / 3))
    beta_E = 0.15 * np.sqrt(factor) * (2 - I / 5)
    du = -r * u - a1 * b0 * mu / 2 * (T_C + T_E) - 0.2 * beta_E * tau
    dh_W = -r * h_W - a2 * b0 * mu / 2 * (T_C + T_E) - 0.4 * beta_E * tau
    dT_C = (
        (gamma * b0 * mu / 2 - c1) * T_C
        + gamma * b0 * mu / 2 * T_E
        + gamma * h_W
        + I / 5 * factor * u
        + 0.0195
        + 0.8 * beta_E * tau
    )
    dT_E = (
        (3 * gamma * b0 * mu / 2 - c2) * T_E
        - gamma * b0 * mu / 2 * T_C
        + gamma * h_W
        + beta_E * tau
    )
    dtau = -2.0 * tau
    sigma_tau = 0.9 * (np.tanh(7.5 * T_C) + 1) * (1 + 0.3 * np.cos(year + np.pi / 3))
    one = np.ones_like(T_C)
    amplitude = np.array(
        [
            0.0322490309931942 * one,
            0.01802775637731995 * one,
            0.0161245154965971 * one,
            0.0322490309931942 * one,
            sigma_tau * one,
        ]
    )
    return np.array([dT_C, dT_E, dh_W, du, dtau]), amplitude


#: Every graded built-in model, with the bound on its nondimensional state.
MODELS: dict[str, tuple[Tendency, float]] = {
    "fable-5.1": (fable, 3.0),
    "fable-5.1-simplified": (fable_simplified, 3.0),
    "multiscale-5": (multiscale, np.inf),
}


def drift(name, state, t):
    """The written drift in physical units per month."""
    tendency, _ = MODELS[name]
    return (tendency((state.T / SCALES).T, t)[0].T * SCALES).T / MONTHS_PER_UNIT


def run(name, state, first_month, noise):
    """States (month, 5, N) at the months' ends, with noise (month, step, 5, N)."""
    tendency, bound = MODELS[name]
    x = state / SCALES[:, None]
    dt = 1.0 / noise.shape[1]
    d = dt / MONTHS_PER_UNIT
    ends = []
    for month, normals in enumerate(noise):
        for number, normal in enumerate(normals):
            drift, amplitude = tendency(x, first_month + month + number * dt)
            x = np.clip(x + drift * d + amplitude * np.sqrt(d) * normal, -bound, bound)
        ends.append(x * SCALES[:, None])
    return np.array(ends)


def _harmonics(t_months):
    """c1, s1, c2, s2, c3, s3 at t_m months since 1 January."""
    angles = [2 * np.pi * k * (t_months - 0.5) / 12 for k in (1, 2, 3)]
    return [value for angle in angles for value in (np.cos(angle), np.sin(angle))]


def _fable_noise(x, t_months):
    T_C, T_E, h_W, _, _ = x
    c1, s1, c2, s2, c3, s3 = _harmonics(t_months)
    sigma_u = 0.094 * (1 - 0.1 * c1 + 0.03 * s1 - 0.15 * c2 + 0.15 * s2) * np.ones_like(T_C)
    sigma_h = 0.024 * (1 + 0.2 * c1) * np.maximum(1 - 4 * h_W, 0.2)
    sigma_C = 0.03 * np.maximum(1 - 2 * T_C, 0.2) * np.maximum(1 - 30 * T_C**2, 0.2)
    sigma_E = (
        0.037
        * (1 - 0.6 * c1 + 0.4 * s1 - 0.3 * c2)
        * np.minimum(np.maximum(1 + 5.5 * T_E, 0.2), 2.5)
    )
    sigma_tau = (
        0.45
        * (1 + 0.13 * c1 - 0.05 * s1 - 0.08 * c2 + 0.2 * s2 - 0.2 * c3 - 0.1 * s3)
        * np.maximum(1 + 0.8 * T_C, 0.2)
    )
    return np.array([sigma_C, sigma_E, sigma_h, sigma_u, sigma_tau])
