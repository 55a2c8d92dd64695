"""The multiscale stochastic model of El Nino diversity, in six variables and in five.

Chen, Fang and Yu (2022), npj Climate and Atmospheric Science 5:16, equations 1a-1f,
with the parameters of 10.1175/JCLI-D-24-0017.1. Nondimensional, with I the decadal
background state and W independent Wiener processes::

    du   = [ -r u - (a1 b0 mu/2)(T_C + T_E) + beta_u(I) tau ] dt + sigma_u dW
    dh_W = [ -r h_W - (a2 b0 mu/2)(T_C + T_E) + beta_h(I) tau ] dt + sigma_h dW
    dT_C = [ (g - c1(T_C, t)) T_C + g T_E + gamma h_W + zeta(I) u + C_u + beta_C(I) tau ] dt
           + sigma_C dW,                                          g = gamma b0 mu/2
    dT_E = [ (3 g - c2(t)) T_E - g T_C + gamma h_W + beta_E(I) tau ] dt + sigma_E dW
    dtau = -d_tau tau dt + sigma_tau(T_C, t) dW
    dI   = -lambda (I - m) dt + sqrt(lambda I (4 - I)) dW,        I kept in [0, 4]

    c1 = f (25 (T_C + 0.1)^2 + 0.9)(1 + 0.3 sin(w t - pi/6)),     f = 0.65
    c2 = 1.4 f (1 + 0.3 sin(w t + pi/3) + 0.25 sin(2 w t + pi/3))
    beta_E = 0.15 sqrt(f) (2 - I/5),  (beta_u, beta_h, beta_C) = (-0.2, -0.4, 0.8) beta_E
    zeta = f I/5,  sigma_tau = 0.9 (1 + tanh(7.5 T_C))(1 + 0.3 cos(w t + pi/3))

with ``w t = 2 pi`` in a year and t = 0 at 1 January.

Six variables make the nature run. With I fixed at its mean 2 the model is one of
the five variables and can be graded: the stand-in for the paper's published
reference, whose own coefficients are not public.
"""

import math
from collections.abc import Mapping
from typing import Final

import equinox as eqx
import jax.numpy as jnp

from enso_jax.models._harmonics import Season, season
from enso_jax.models._step import Step
from enso_jax.models._term_model import TermModel
from enso_jax.models._terms import Sigmoid
from enso_jax.models._writing import drift, noise
from enso_jax.state import NAMES, TIME_SCALE_MONTHS, VARIABLES

_F: Final = 0.65
_R: Final = 0.25 * _F
_GAMMA: Final = 0.75 * _F
_HALF_B: Final = 2.5 * 0.5 / 2.0  # b0 mu / 2
_G: Final = _GAMMA * _HALF_B
_COUPLING_U: Final = 0.0625 * _F**2 * _HALF_B  # a1 b0 mu / 2
_COUPLING_H: Final = 0.125 * _F * _HALF_B  # a2 b0 mu / 2
_C_U: Final = 0.03 * _F
_SIGMA: Final = {
    "T_C": 0.04 * math.sqrt(_F),
    "T_E": math.sqrt(0.0005 * _F),
    "h_W": 0.02 * math.sqrt(_F),
    "u": 0.04 * math.sqrt(_F),
    "tau": 0.9,
}
_WIND_SLOPE: Final = 7.5
_D_TAU: Final = 2.0
_LAMBDA: Final = 1.0 / 30.0
_MEAN_I: Final = 2.0
_MAX_I: Final = 4.0
#: The wind's pull on each variable, as a multiple of beta_E.
_WIND: Final = {"u": -0.2, "h_W": -0.4, "T_C": 0.8, "T_E": 1.0}


def _sine(share: float, phase: float, k: int = 1) -> dict[str, float]:
    """The harmonics of ``share * sin(k w t + phase)``."""
    return {f"s{k}": share * math.cos(phase), f"c{k}": share * math.sin(phase)}


#: The seasonal cycles of c1, c2 and sigma_tau, as shares of their means.
_SEASON_C1: Final = _sine(0.3, -math.pi / 6)
_SEASON_C2: Final = _sine(0.3, math.pi / 3) | _sine(0.25, math.pi / 3, k=2)
_SEASON_TAU: Final = _sine(0.3, math.pi / 3 + math.pi / 2)


def _beta_e(background):
    return 0.15 * math.sqrt(_F) * (2.0 - background / 5.0)


def _zeta(background):
    return _F * background / 5.0


def _cycle(shares: Mapping[str, float], seasons: Season):
    """``1 + sum_h shares_h h(t)``."""
    return 1.0 + sum(share * seasons[name] for name, share in shares.items())


class Multiscale(Step):
    """The model in six variables, ``[T_C, T_E, h_W, u, tau, I]``; I has no unit.

    It only makes the nature run: its sixth variable is hidden, so it cannot be graded.
    """

    noise_size: int = eqx.field(static=True, default=6)

    def __call__(self, state, t, dt, noise):
        scales = jnp.asarray([variable.scale for variable in VARIABLES] + [1.0])
        T_C, T_E, h_W, u, tau, background = x = state / scales.astype(state.dtype)
        d = dt / TIME_SCALE_MONTHS
        seasons = season(t, jnp.zeros_like(t))
        c1 = _F * (25.0 * (T_C + 0.1) ** 2 + 0.9) * _cycle(_SEASON_C1, seasons)
        c2 = 1.4 * _F * _cycle(_SEASON_C2, seasons)
        wind = {name: share * _beta_e(background) * tau for name, share in _WIND.items()}
        drift = jnp.stack(
            [
                (_G - c1) * T_C + _G * T_E + _GAMMA * h_W + _zeta(background) * u + _C_U
                + wind["T_C"],
                (3.0 * _G - c2) * T_E - _G * T_C + _GAMMA * h_W + wind["T_E"],
                -_R * h_W - _COUPLING_H * (T_C + T_E) + wind["h_W"],
                -_R * u - _COUPLING_U * (T_C + T_E) + wind["u"],
                -_D_TAU * tau,
                -_LAMBDA * (background - _MEAN_I),
            ]
        )  # fmt: skip
        gust = (1.0 + jnp.tanh(_WIND_SLOPE * T_C)) * _cycle(_SEASON_TAU, seasons)
        amplitude = jnp.stack(
            [
                *(jnp.full_like(T_C, _SIGMA[name]) for name in ("T_C", "T_E", "h_W", "u")),
                _SIGMA["tau"] * gust,
                jnp.sqrt(_LAMBDA * background * (_MAX_I - background)),
            ]
        )
        new = x + drift * d + amplitude * jnp.sqrt(d) * noise
        return new.at[5].set(jnp.clip(new[5], 0.0, _MAX_I)) * scales


def multiscale_5(background: float = _MEAN_I) -> TermModel:
    """The model in five variables, with I fixed at `background`."""
    wind = {name: share * _beta_e(background) for name, share in _WIND.items()}
    # c1 = f s(t) (25 T_C^2 + 5 T_C + 1.15), with s(t) its seasonal cycle.
    damping_C = [_scaled(-_F * size, _SEASON_C1) for size in (1.15, 5.0, 25.0)]
    damping_E = _scaled(-1.4 * _F, _SEASON_C2)
    terms = (
        *drift(
            "T_C",
            {
                "T_C": damping_C[0] | {"1": damping_C[0]["1"] + _G},
                "T_E": _G,
                "h_W": _GAMMA,
                "u": _zeta(background),
                "tau": wind["T_C"],
                "1": _C_U,
                "T_C^2": damping_C[1],
                "T_C^3": damping_C[2],
            },
        ),
        *drift(
            "T_E",
            {
                "T_E": damping_E | {"1": damping_E["1"] + 3.0 * _G},
                "T_C": -_G,
                "h_W": _GAMMA,
                "tau": wind["T_E"],
            },
        ),
        *drift(
            "h_W",
            {"h_W": -_R, "T_C": -_COUPLING_H, "T_E": -_COUPLING_H, "tau": wind["h_W"]},
        ),
        *drift(
            "u",
            {"u": -_R, "T_C": -_COUPLING_U, "T_E": -_COUPLING_U, "tau": wind["u"]},
        ),
        *drift("tau", {"tau": -_D_TAU}),
    )
    gusts = noise("tau", _SIGMA["tau"], _SEASON_TAU, (Sigmoid("T_C", _WIND_SLOPE),))
    return TermModel(terms, [*(noise(name, _SIGMA[name]) for name in NAMES[:-1]), gusts])


def _scaled(size: float, cycle: Mapping[str, float]) -> dict[str, float]:
    """The seasonal coefficient ``size (1 + cycle)``."""
    return {"1": size} | {harmonic: size * share for harmonic, share in cycle.items()}
