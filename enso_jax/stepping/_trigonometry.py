"""How are the sines and cosines of a long run computed, all at once?

XLA calls the C library for each float64 sine on a CPU. Here the quadrant is subtracted in
three parts (Cody and Waite) and the rest, within a quarter of pi of zero, is a polynomial:
plain arithmetic, done for several times at once, and right to two units in the last place::

    x = n pi/2 + r,    sin r = r + r^3 S(r^2),    cos r = 1 - r^2/2 + r^4 C(r^2)

The polynomials are those of fdlibm.
"""

from collections.abc import Sequence
from typing import Final

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

# Pi/2 in parts of 33 bits each, so that their products with n < 2^20 are exact.
_HALF_PI: Final = (
    1.57079632673412561417e00,
    6.07710050630396597660e-11,
    2.02226624879595063e-21,
)

_SINE: Final = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COSINE: Final = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def sine(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """The sines of float64 angles; NaN where one is not finite."""
    return _quarter_turns_on(x, 0.0)


def cosine(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """The cosines of float64 angles; NaN where one is not finite."""
    return _quarter_turns_on(x, 1.0)


def _quarter_turns_on(x: Array, turns: float) -> Array:
    """``sin(x + turns pi/2)``."""
    n = jnp.round(x * (2.0 / jnp.pi))
    rest = x
    for part in _HALF_PI:
        rest = rest - n * part
    quadrant = (n + turns) - 4.0 * jnp.floor((n + turns) * 0.25)
    square = rest * rest
    sine_of_rest = rest + rest * square * _polynomial(_SINE, square)
    cosine_of_rest = 1.0 - 0.5 * square + square * square * _polynomial(_COSINE, square)
    odd = (quadrant == 1.0) | (quadrant == 3.0)
    value = lax.select(odd, cosine_of_rest, sine_of_rest)
    return lax.select(quadrant >= 2.0, -value, value)


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """By Horner's scheme, the constant first."""
    value = jnp.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value
