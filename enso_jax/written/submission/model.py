"""A model of El Nino as a list of terms, every one of which stands in params.json::

    dx_i = [ sum_j a_ij(t) f_ij(x) ] dt  +  s_i m_i(t) prod_k g_ik(x) dW_i

x is the state divided by `scales`. The drift of each equation is a list of features f by their
formulas, each with its coefficient a: a number, or the numbers of its annual harmonics. Its
noise has a level s, a season m and factors g, which make it depend on the state. Edit the
numbers there, add terms or take some away: what is below steps whatever it finds.

`step` advances an ensemble (N, 5) of states [T_C, T_E, h_W, u, tau], in degC, degC, m, m/s
and m/s, from model time t to t + dt (months; t = 0 is 1 January). Every row is stepped on its
own, and all random numbers come from `rng`.
"""

import json
import math
import re
from pathlib import Path

import numpy as np

PARAMS = json.loads(Path(__file__).with_name("params.json").read_text())

NAMES = ("T_C", "T_E", "h_W", "u", "tau")
SCALES = np.array([PARAMS["scales"][name] for name in NAMES])
BOUND = math.inf if PARAMS["bound"] is None else PARAMS["bound"]
MIXING = PARAMS["mixing"]  # makes the equations' noises of independent ones, unless null

NAME = rf"({'|'.join(NAMES)})"
POWER = re.compile(rf"{NAME}(?:\^(\d+))?")  # T_C^2, and of such a product: T_C^2 u
ONE_SIDED = re.compile(rf"{POWER.pattern} \[\1 > 0\]")  # T_C^2 [T_C > 0]
SATURATING = re.compile(rf"{NAME}\^2/\(1 \+ \(\1/(.+)\)\^2\)")  # T_E^2/(1 + (T_E/0.35)^2)


# --- What the formulas mean. x is a dictionary of the five columns by name. ----------------


def feature(formula):
    """The function f(x) that a formula writes."""
    if match := SATURATING.fullmatch(formula):
        name, scale = match[1], float(match[2])
        return lambda x: x[name] ** 2 / (1.0 + (x[name] / scale) ** 2)
    if match := ONE_SIDED.fullmatch(formula):
        name, power = match[1], int(match[2] or 1)
        return lambda x: np.maximum(x[name], 0.0) ** power
    if formula == "1":
        return lambda x: 1.0
    powers = []
    for part in formula.split(" "):
        match = POWER.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} of {formula!r} in params.json is no power of {NAMES}")
        powers.append((match[1], int(match[2] or 1)))
    return lambda x: math.prod(x[name] ** power for name, power in powers)


def factor(of):
    """The function g(x) that multiplies a noise amplitude; 1 where x is 0."""
    name, slope = of["variable"], of["slope"]
    if of["kind"] == "sigmoid":
        return lambda x: 1.0 + np.tanh(slope * x[name])
    power, floor = of["power"], of["floor"]
    ceiling = math.inf if of["ceiling"] is None else of["ceiling"]
    return lambda x: np.minimum(np.maximum(1.0 + slope * x[name] ** power, floor), ceiling)


def harmonics(t):
    """The mean and the annual harmonics, whose cosines peak at the month `phase_months`."""
    angle = 2.0 * np.pi * (t - PARAMS["phase_months"]) / 12.0
    waves = {"1": 1.0}
    for k in (1, 2, 3):
        waves[f"c{k}"], waves[f"s{k}"] = np.cos(k * angle), np.sin(k * angle)
    return waves


def seasonal(coefficient, waves):
    """A coefficient at one time: a number, or the sum over its harmonics."""
    if not isinstance(coefficient, dict):
        return coefficient
    return sum(number * waves[name] for name, number in coefficient.items())


DRIFT = {
    equation: [(coefficient, feature(formula)) for formula, coefficient in terms.items()]
    for equation, terms in PARAMS["drift"].items()
}
FACTORS = {
    equation: list(map(factor, noise["factors"])) for equation, noise in PARAMS["noise"].items()
}


# --- One step ------------------------------------------------------------------------------


def drift(x, waves, equation):
    """The nondimensional tendency of one variable."""
    return sum(seasonal(coefficient, waves) * f(x) for coefficient, f in DRIFT[equation])


def amplitude(x, waves, equation):
    """The nondimensional noise amplitude of one variable."""
    noise = PARAMS["noise"][equation]
    size = noise["level"] * seasonal(noise["season"], waves)
    return size * math.prod(g(x) for g in FACTORS[equation])


def step(state, t, dt, rng):
    """One Euler-Maruyama step, kept within the bound."""
    scaled = state / SCALES
    x, waves = dict(zip(NAMES, scaled.T, strict=True)), harmonics(t)
    d = dt / PARAMS["time_scale_months"]
    normals = rng.standard_normal(state.shape)
    if MIXING is not None:
        normals = normals @ np.array(MIXING).T
    new = np.empty_like(scaled)
    for i, name in enumerate(NAMES):
        kick = amplitude(x, waves, name) * np.sqrt(d) * normals[:, i]
        new[:, i] = x[name] + drift(x, waves, name) * d + kick
    return np.clip(new, -BOUND, BOUND) * SCALES
