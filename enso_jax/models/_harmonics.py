"""How does a coefficient follow the seasons?

As a sum of annual harmonics of model time, with ``phi`` the month at which the
cosines peak::

    a(t) = sum_h a_h h(t),   h in {1, c1, s1, c2, s2, c3, s3}
    c_k = cos(2 pi k (t - phi) / 12),   s_k = sin(2 pi k (t - phi) / 12)
"""

from collections.abc import Iterable, Mapping
from typing import Final

import jax.numpy as jnp
from jaxtyping import Array, Float

from enso_jax.state import MONTHS_PER_YEAR

CONSTANT: Final = "1"
HARMONICS: Final = (CONSTANT, "c1", "s1", "c2", "s2", "c3", "s3")

Season = Mapping[str, Float[Array, ""]]


def season(t: Float[Array, ""], phase: Float[Array, ""]) -> Season:
    """The value of every harmonic at `t`.

    One cosine and one sine are evaluated; the higher harmonics follow from the
    addition theorems, since this runs in every step of a long simulation.
    """
    angle = 2.0 * jnp.pi * (t - phase) / MONTHS_PER_YEAR
    c1, s1 = jnp.cos(angle), jnp.sin(angle)
    c2, s2 = c1 * c1 - s1 * s1, 2.0 * s1 * c1
    c3, s3 = c1 * c2 - s1 * s2, s1 * c2 + c1 * s2
    return dict(zip(HARMONICS, (jnp.ones_like(c1), c1, s1, c2, s2, c3, s3), strict=True))


def seasonal_sum(
    harmonics: Iterable[str], coefficients: Float[Array, " harmonic"], season: Season
) -> Float[Array, ""]:
    """``sum_h a_h h(t)`` over `harmonics`, in their order."""
    total = None
    for name, coefficient in zip(harmonics, coefficients, strict=True):
        # 1 * a is written as a: XLA does not fold it when t is traced.
        part = coefficient if name == CONSTANT else coefficient * season[name]
        total = part if total is None else total + part
    assert total is not None, "a seasonal coefficient has at least one harmonic"
    return total


def seasonal_text(harmonics: Iterable[str], coefficients: Iterable[float]) -> str:
    """The sum as text, ``0.85 + 0.17 c1 + 0.425 s1``."""
    text = ""
    for name, value in zip(harmonics, coefficients, strict=True):
        sign = (" - " if value < 0 else " + ") if text else ("-" if value < 0 else "")
        text += f"{sign}{abs(value):.6g}" + ("" if name == CONSTANT else f" {name}")
    return text
