r"""How are a model's equations set in a paper?

As LaTeX for the package amsmath, with six digits of each number::

    \mathrm{d}T_\mathrm{E} &= \bigl[ 0.2403\,u + (0.05899 + 0.1\,s_1)\,h_\mathrm{W} \bigr]\,
        \mathrm{d}t + 0.037\,\mathrm{d}W_{T_\mathrm{E}}
"""

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from enso_jax.models import (
    CONSTANT,
    Amplitude,
    Factor,
    Feature,
    Monomial,
    OneSided,
    Ramp,
    Saturating,
    Sigmoid,
    TermModel,
    as_written,
    feature,
)
from enso_jax.state import NAMES, VARIABLES

#: A variable, a harmonic or a unit by its name in the code.
SYMBOLS: Final = {
    "T_C": r"T_\mathrm{C}",
    "T_E": r"T_\mathrm{E}",
    "h_W": r"h_\mathrm{W}",
    "u": "u",
    "tau": r"\tau",
}
_UNITS: Final = {
    "degC": r"{}^\circ\mathrm{C}",
    "m": r"\mathrm{m}",
    "m s-1": r"\mathrm{m\,s^{-1}}",
}

#: Letters on one line of an equation, not counting what takes no or little room.
_LINE: Final = 75
_INVISIBLE: Final = r"\\(mathrm|bigl|bigr|frac|[,a-z])|[{}^_]"


def latex_equations(model: TermModel) -> str:
    """The nondimensional equations, one for each variable, and a sentence on their symbols.

    An ``align`` environment, in which a long equation goes on in the next line.

    Raises:
        ValueError: if a feature or a factor is of a kind of its own.
    """
    drift = as_written(model.terms)
    equations = ",\\\\\n".join(
        _equation(drift[amplitude.equation], amplitude) for amplitude in model.amplitudes
    )
    return f"\\begin{{align}}\n{equations},\n\\end{{align}}\n{_conventions(model)}\n"


def latex_number(value: float) -> str:
    r"""Six digits, ``-1.2 \times 10^{-5}``, for use in mathematics."""
    mantissa, _, exponent = f"{value:.6g}".partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def latex_harmonic(name: str) -> str:
    """``c_1``, of ``c1``; 1 for the constant."""
    return name if name == CONSTANT else f"{name[0]}_{name[1:]}"


def latex_feature(shape: Feature) -> str:
    """The formula of a feature, for use in mathematics."""
    match shape:
        case Monomial():
            return r"\,".join(_power(*factor) for factor in shape.powers) or "1"
        case Saturating():
            x, scale = SYMBOLS[shape.variable], latex_number(float(shape.scale))
            return rf"\frac{{{x}^2}}{{1 + ({x}/{scale})^2}}"
        case OneSided():
            power = "" if shape.power == 1 else f"^{{{shape.power}}}"
            return rf"\max({SYMBOLS[shape.variable]}, 0){power}"
    raise ValueError(f"{shape.text()!r} is of a kind that has no LaTeX")


def latex_factor(factor: Factor) -> str:
    """The formula of a factor of a noise amplitude, for use in mathematics."""
    match factor:
        case Ramp():
            slope = _signed(float(factor.slope), _power(factor.variable, factor.power))
            bounded = rf"\max(1 {slope}, {latex_number(float(factor.floor))})"
            if np.isinf(factor.ceiling):
                return bounded
            return rf"\min({bounded}, {latex_number(float(factor.ceiling))})"
        case Sigmoid():
            slope = latex_number(float(factor.slope))
            return rf"(1 + \tanh({slope}\,{SYMBOLS[factor.variable]}))"
    raise ValueError(f"{factor.text()!r} is of a kind that has no LaTeX")


# --- One equation -----------------------------------------------------------------------


def _equation(drift: Mapping[str, Mapping[str, float]], amplitude: Amplitude) -> str:
    name = SYMBOLS[amplitude.equation]
    terms = [_term(latex_feature(feature(formula)), size) for formula, size in drift.items()]
    terms = terms or ["+ 0"]
    terms[0] = rf"\bigl[ {_leading(terms[0])}"
    terms[-1] += r" \bigr]\,\mathrm{d}t"
    lines = _lines([*terms, rf"+ {_amplitude(amplitude)}\,\mathrm{{d}}W_{{{name}}}"])
    return rf"\mathrm{{d}}{name} &= " + "\\nonumber\\\\\n&\\qquad {} ".join(lines)


def _lines(pieces: Iterable[str]) -> list[str]:
    """The pieces, as many on a line as fit there."""
    lines: list[str] = []
    room = 0
    for piece in pieces:
        width = len(re.sub(_INVISIBLE, "", piece))
        if not lines or width > room:
            lines.append(piece)
            room = _LINE - width
        else:
            lines[-1] += f" {piece}"
            room -= width
    return lines


def _term(formula: str, size: Mapping[str, float]) -> str:
    """A term with its sign, ``+ 0.2\\,u``."""
    if len(size) > 1:
        return f"+ {_season(size)}{_times(formula)}"
    ((harmonic, value),) = size.items()
    return _signed(value, latex_harmonic(harmonic)) + _times(formula)


def _amplitude(amplitude: Amplitude) -> str:
    season = dict(zip(amplitude.harmonics, amplitude.modulation.tolist(), strict=True))
    parts = [latex_number(float(amplitude.level))]
    if season != {CONSTANT: 1.0}:
        parts.append(_season(season))
    return r"\,".join(parts + [latex_factor(factor) for factor in amplitude.factors])


def _season(size: Mapping[str, float]) -> str:
    """A sum over harmonics in brackets, ``(0.85 + 0.17\\,c_1)``."""
    parts = [_signed(value, latex_harmonic(name)) for name, value in size.items()]
    return f"({_leading(' '.join(parts))})"


def _leading(sum_: str) -> str:
    """A sum whose first sign is that of a number, and none if it is a plus."""
    return sum_.removeprefix("+ ") if sum_.startswith("+") else sum_.replace("- ", "-", 1)


def _signed(value: float, of: str) -> str:
    return ("- " if value < 0 else "+ ") + latex_number(abs(value)) + _times(of)


def _times(of: str) -> str:
    return "" if of == "1" else rf"\,{of}"


def _power(variable: str, power: int) -> str:
    return SYMBOLS[variable] + ("" if power == 1 else f"^{{{power}}}")


# --- What the symbols are ---------------------------------------------------------------


def _conventions(model: TermModel) -> str:
    *symbols, last = (f"${SYMBOLS[name]}$" for name in NAMES)
    units = ", ".join(
        rf"${latex_number(scale)}\,{_UNITS[variable.units]}$"
        for variable, scale in zip(VARIABLES, model.scales.tolist(), strict=True)
    )
    phase = float(model.phase)
    since = f"(t {_signed(-phase, CONSTANT)})" if phase else "t"
    angle = rf"(2\pi k {since}/12)"
    return (
        rf"where {', '.join(symbols)} and {last} are in units of {units}, respectively, and time "
        rf"in units of ${latex_number(float(model.time_scale))}$ months; "
        rf"$c_k = \cos{angle}$ and $s_k = \sin{angle}$ with $t$ in months from 1 January; "
        rf"{_noises(model)}{_bound(model)}."
    )


def _noises(model: TermModel) -> str:
    if model.mixing is None:
        return "the Wiener processes $W$ are independent"
    correlations = np.asarray(model.mixing) @ np.asarray(model.mixing).T
    pairs = ", ".join(
        rf"${latex_number(correlations[i, j])}$ for ${SYMBOLS[NAMES[i]]}$ and ${SYMBOLS[NAMES[j]]}$"
        for i, j in itertools.combinations(range(len(NAMES)), 2)
        if correlations[i, j] != 0.0
    )
    return f"and the Wiener processes $W$ are correlated ({pairs or 'by nothing'})"


def _bound(model: TermModel) -> str:
    bound = float(model.bound)
    return (
        "" if np.isinf(bound) else rf"; every variable is kept within $\pm {latex_number(bound)}$"
    )
