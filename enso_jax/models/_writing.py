"""How are the terms of a model written in as little space as on paper?

::

    drift("T_E", {"h_W": {"1": 0.059, "s1": 0.1}, "T_E": -0.151, "T_E^3": -1.038})

A feature is a product of variables with powers (``1``, ``h_W``, ``T_C h_W^2``), a
saturating square (``T_E^2/(1 + (T_E/0.35)^2)``) or a one-sided power
(``T_C^2 [T_C > 0]``). A coefficient is a number, or the numbers of its harmonics.

Terms are grouped by what they are and by their equation: ``constant/T_E``,
``linear/T_E``, ``seasonal/T_E/h_W`` (the seasonal cycle of the coupling to h_W),
``nonlinear/T_E``.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import jax.numpy as jnp
from jaxtyping import Array, Float

from enso_jax.models._harmonics import CONSTANT, HARMONICS
from enso_jax.models._terms import (
    Amplitude,
    Factor,
    Feature,
    Monomial,
    OneSided,
    Saturating,
    Term,
)
from enso_jax.state import NAMES

_POWER: Final = rf"({'|'.join(NAMES)})(?:\^(\d+))?"
_ONE_SIDED: Final = rf"{_POWER} \[\1 > 0\]"
_SATURATING: Final = rf"({'|'.join(NAMES)})\^2/\(1 \+ \(\1/([^()]+)\)\^2\)"

Coefficient = float | Mapping[str, float]


def feature(formula: str) -> Feature:
    """The feature that `formula` writes: what `Feature.text` gave, read back.

    Raises:
        ValueError: if it is none of the forms above.
    """
    if match := re.fullmatch(_SATURATING, formula):
        return Saturating(match[1], float(match[2]))
    if match := re.fullmatch(_ONE_SIDED, formula):
        return OneSided(match[1], int(match[2] or 1))
    if formula == CONSTANT:
        return Monomial(())
    powers = []
    for factor in formula.split(" "):
        match = re.fullmatch(_POWER, factor)
        if match is None:
            raise ValueError(f"{factor!r} in {formula!r} is not a variable of {NAMES} with a power")
        powers.append((match[1], int(match[2] or 1)))
    return Monomial(tuple(powers))


def drift(equation: str, terms: Mapping[str, Coefficient]) -> tuple[Term, ...]:
    """The drift terms of one equation, its groups named after it."""
    return tuple(
        term for formula, size in terms.items() for term in _terms(equation, formula, size)
    )


def as_written(terms: Iterable[Term]) -> dict[str, dict[str, dict[str, float]]]:
    """What `drift` would be given for each equation, by formula and harmonic.

    Terms of one equation with one feature become one entry; coefficients of one harmonic are
    summed. An equation without terms has an empty entry.
    """
    equations: dict[str, dict[str, dict[str, float]]] = {name: {} for name in NAMES}
    for term in terms:
        size = equations[term.equation].setdefault(term.feature.text(), {})
        for harmonic, value in zip(term.harmonics, term.coefficients.tolist(), strict=True):
            size[harmonic] = size.get(harmonic, 0.0) + value
    return equations


def noise(
    equation: str,
    level: float,
    season: Mapping[str, float] | None = None,
    factors: tuple[Factor, ...] = (),
) -> Amplitude:
    """The amplitude ``level (1 + sum_h season_h h(t)) prod(factors)`` of one equation."""
    harmonics, modulation = _arrays({CONSTANT: 1.0} | dict(season or {}))
    kind = "multiplicative" if factors else "additive"
    return Amplitude(equation, f"{kind}/{equation}", level, harmonics, modulation, factors)


def _terms(equation: str, formula: str, size: Coefficient) -> list[Term]:
    shape = feature(formula)
    by_harmonic = dict(size) if isinstance(size, Mapping) else {CONSTANT: size}
    if not shape.linear:
        return [_term(equation, f"nonlinear/{equation}", shape, by_harmonic)]
    # A linear coupling is split into its mean and its seasonal cycle, so that one can go alone.
    steady = {name: value for name, value in by_harmonic.items() if name == CONSTANT}
    cycle = {name: value for name, value in by_harmonic.items() if name != CONSTANT}
    kind = "constant" if shape.text() == CONSTANT else "linear"
    parts = [
        (f"{kind}/{equation}", steady),
        (f"seasonal/{equation}/{shape.text()}", cycle),
    ]
    return [_term(equation, group, shape, part) for group, part in parts if part]


def _term(equation: str, group: str, shape: Feature, by_harmonic: Mapping[str, float]) -> Term:
    return Term(equation, group, shape, *_arrays(by_harmonic))


def _arrays(by_harmonic: Mapping[str, float]) -> tuple[tuple[str, ...], Float[Array, " harmonic"]]:
    if strays := set(by_harmonic) - set(HARMONICS):
        raise ValueError(f"{sorted(strays)} are no harmonics; they are called {HARMONICS}")
    return tuple(by_harmonic), jnp.asarray(tuple(by_harmonic.values()), dtype=float)
