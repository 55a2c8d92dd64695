"""Of what is a model's equation made?

Of drift terms, each a seasonal coefficient times a feature of the state, and of
one noise amplitude, a seasonal level times factors of the state::

    dx_i = [ sum_j a_ij(t) f_ij(x) ] dt  +  s_i m_i(t) prod_k g_ik(x) dW_i

All numbers are array leaves; which variables, which harmonics and which shape is
static. Each term and amplitude carries the name of a group, the unit in which
later work drops, refits and classifies.
"""

import abc
import math
from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from enso_jax.models._arithmetic import between
from enso_jax.models._harmonics import CONSTANT, Season, seasonal_sum, seasonal_text

#: The nondimensional variables by name, each a scalar or, under vmap, one per member.
State = Mapping[str, Float[Array, ""]]
Number = Float[Array, ""]


def number(value: float) -> Number:
    """A parameter: a float64 scalar leaf (float32 where JAX has no x64)."""
    return jnp.asarray(value, dtype=float)


def power_text(variable: str, power: int) -> str:
    return variable if power == 1 else f"{variable}^{power}"


class Feature(eqx.Module):
    """A function of the state that a coefficient multiplies."""

    @abc.abstractmethod
    def __call__(self, x: State) -> Float[Array, ""]:
        """Its value at the nondimensional state `x`."""

    @abc.abstractmethod
    def text(self) -> str:
        """Its formula."""

    @property
    def linear(self) -> bool:
        """Whether it is a constant or one variable to the first power."""
        return False


class Monomial(Feature):
    """``prod_v x_v^p``; with no powers at all, the constant 1."""

    powers: tuple[tuple[str, int], ...] = eqx.field(static=True)

    def __call__(self, x: State) -> Float[Array, ""]:
        one = jnp.ones_like(next(iter(x.values())))
        return math.prod((x[variable] ** power for variable, power in self.powers), start=one)

    def text(self) -> str:
        return " ".join(power_text(*factor) for factor in self.powers) or "1"

    @property
    def linear(self) -> bool:
        return sum(power for _, power in self.powers) <= 1


class Saturating(Feature):
    """``x^2 / (1 + (x / scale)^2)``: quadratic near zero, ``scale^2`` far from it."""

    variable: str = eqx.field(static=True)
    scale: Number = eqx.field(converter=number)

    def __call__(self, x: State) -> Float[Array, ""]:
        square = x[self.variable] ** 2
        return square / (1.0 + square * (1.0 / self.scale**2))

    def text(self) -> str:
        return f"{self.variable}^2/(1 + ({self.variable}/{float(self.scale)!r})^2)"


class OneSided(Feature):
    """``x^power`` where x is positive, else 0."""

    variable: str = eqx.field(static=True)
    power: int = eqx.field(static=True)

    def __call__(self, x: State) -> Float[Array, ""]:
        return jnp.maximum(x[self.variable], 0.0) ** self.power

    def text(self) -> str:
        return f"{power_text(self.variable, self.power)} [{self.variable} > 0]"


class Term(eqx.Module):
    """One drift term, ``a(t) f(x)``, of the equation of one variable."""

    equation: str = eqx.field(static=True)
    group: str = eqx.field(static=True)
    feature: Feature
    harmonics: tuple[str, ...] = eqx.field(static=True)
    coefficients: Float[Array, " harmonic"]

    def __call__(self, x: State, season: Season) -> Float[Array, ""]:
        return seasonal_sum(self.harmonics, self.coefficients, season) * self.feature(x)

    @property
    def seasonal(self) -> bool:
        return self.harmonics != (CONSTANT,)

    def text(self) -> str:
        coefficient = seasonal_text(self.harmonics, self.coefficients.tolist())
        feature = self.feature.text()
        if self.seasonal:
            coefficient = f"({coefficient})"
        return coefficient if feature == "1" else f"{coefficient} {feature}"


class Factor(eqx.Module):
    """A positive function of the state that multiplies a noise amplitude; 1 where x is 0.

    Every kind has a `slope`; with one of 0 it is 1 at every state.
    """

    @abc.abstractmethod
    def __call__(self, x: State) -> Float[Array, ""]:
        """Its value at the nondimensional state `x`."""

    @abc.abstractmethod
    def text(self) -> str:
        """Its formula."""


class Ramp(Factor):
    """``min(max(1 + slope x^power, floor), ceiling)``."""

    variable: str = eqx.field(static=True)
    power: int = eqx.field(static=True)
    slope: Number = eqx.field(converter=number)
    floor: Number = eqx.field(converter=number)
    ceiling: Number = eqx.field(converter=number, default=jnp.inf)

    def __call__(self, x: State) -> Float[Array, ""]:
        line = 1.0 + self.slope * x[self.variable] ** self.power
        return between(self.floor, line, self.ceiling)

    def text(self) -> str:
        sign = "-" if self.slope < 0 else "+"
        line = f"1 {sign} {abs(float(self.slope)):.6g} {power_text(self.variable, self.power)}"
        bounded = f"max({line}, {float(self.floor):.6g})"
        if jnp.isinf(self.ceiling):
            return bounded
        return f"min({bounded}, {float(self.ceiling):.6g})"


class Sigmoid(Factor):
    """``1 + tanh(slope x)``."""

    variable: str = eqx.field(static=True)
    slope: Number = eqx.field(converter=number)

    def __call__(self, x: State) -> Float[Array, ""]:
        return 1.0 + jnp.tanh(self.slope * x[self.variable])

    def text(self) -> str:
        return f"(1 + tanh({float(self.slope):.6g} {self.variable}))"


class Amplitude(eqx.Module):
    """The noise amplitude of one equation, ``s m(t) prod_k g_k(x)``.

    Attributes:
        level: s, in nondimensional units per square root of a time unit.
        harmonics, modulation: m(t); one harmonic, 1 with modulation 1, if not seasonal.
        factors: the g_k; empty for additive noise.
    """

    equation: str = eqx.field(static=True)
    group: str = eqx.field(static=True)
    level: Number = eqx.field(converter=number)
    harmonics: tuple[str, ...] = eqx.field(static=True)
    modulation: Float[Array, " harmonic"]
    factors: tuple[Factor, ...] = ()

    def __call__(self, x: State, season: Season) -> Float[Array, ""]:
        value = self.level * seasonal_sum(self.harmonics, self.modulation, season)
        for factor in self.factors:
            value = value * factor(x)
        return value

    def text(self) -> str:
        parts = [f"{float(self.level):.6g}"]
        if self.harmonics != (CONSTANT,):
            parts.append(f"({seasonal_text(self.harmonics, self.modulation.tolist())})")
        return " ".join(parts + [factor.text() for factor in self.factors])
