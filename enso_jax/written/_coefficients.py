"""What became of each of a model's numbers when the model was reduced?

Both models' numbers side by side. Terms are the same when their equation and formula are;
a saturating square or a factor of the noise whose numbers were fitted again is the same by
its shape, and among several of one shape by its order.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from enso_jax.models import (
    CONSTANT,
    HARMONICS,
    Amplitude,
    Factor,
    Feature,
    Ramp,
    Saturating,
    Sigmoid,
    TermModel,
    as_written,
    feature,
)
from enso_jax.state import NAMES
from enso_jax.written._latex import (
    SYMBOLS,
    latex_factor,
    latex_feature,
    latex_harmonic,
    latex_number,
)

_TITLES: Final = ("equation", "term", "number", "original", "reduced")
#: How the numbers of one term follow each other.
_ORDER: Final = ("level", *HARMONICS, "scale", "slope", "floor", "ceiling", *NAMES)


@dataclasses.dataclass(frozen=True)
class CoefficientRow:
    """One number of two models.

    Attributes:
        equation: the variable whose equation it is in.
        term: the formula of the feature; ``noise``, or ``noise`` and the formula of a factor;
            or ``mixing``. Where the two models' formulas differ, the original's.
        latex: the same, set in LaTeX.
        number: which number of the term it is: a harmonic, a parameter's name, or of a
            mixing the variable whose own noise enters.
        original, reduced: its value in each model, None where it is not there.
    """

    equation: str
    term: str
    latex: str
    number: str
    original: float | None
    reduced: float | None


def coefficient_table(original: TermModel, reduced: TermModel) -> tuple[CoefficientRow, ...]:
    """Every number of the drift and of the noise, in the order of the original's terms.

    What only the reduced model has comes last in its equation. A ceiling that is infinite and
    the mean of a seasonal noise, where it is 1, are no numbers.

    Raises:
        ValueError: if a feature or a factor is of a kind of its own.
    """
    return tuple(
        row
        for equation in NAMES
        for pair in _pairs(_parts(original, equation), _parts(reduced, equation))
        for row in _rows(equation, *pair)
    )


def coefficients_as_text(rows: Sequence[CoefficientRow]) -> str:
    """The table in columns of plain text; a dash where a model has no such number."""
    cells = [
        (
            row.equation,
            row.term,
            row.number,
            *("-" if value is None else f"{value:.6g}" for value in (row.original, row.reduced)),
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(_TITLES, *cells, strict=True)]
    return "".join(
        "  ".join(
            cell.ljust(width) if place < 3 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        + "\n"
        for line in (_TITLES, *cells)
    )


def coefficients_as_latex(rows: Sequence[CoefficientRow]) -> str:
    """The table as a ``tabular``; a dash where a model has no such number.

    An equation and a term are named in the first of their rows.
    """
    lines = []
    equation = term = None
    for row in rows:
        if row.equation != equation:
            # A line above each equation, the first one's being that below the titles.
            lines.append(r"\hline")
            equation, name, term = row.equation, f"${SYMBOLS[row.equation]}$", None
        else:
            name = ""
        cells = (
            name,
            "" if row.term == term else row.latex,
            _latex_of_number(row.number),
            *("--" if v is None else f"${latex_number(v)}$" for v in (row.original, row.reduced)),
        )
        term = row.term
        lines.append(" & ".join(cells) + r" \\")
    head = [r"\begin{tabular}{lllrr}", r"\hline", " & ".join(_TITLES) + r" \\"]
    return "\n".join([*head, *lines, r"\hline", r"\end{tabular}"]) + "\n"


def _latex_of_number(name: str) -> str:
    if name in HARMONICS:
        return f"${latex_harmonic(name)}$"
    return f"${SYMBOLS[name]}$" if name in SYMBOLS else name


# --- The numbers of one model -----------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Part:
    """A feature, an amplitude, a factor or a mixing of one equation, and its numbers.

    Parts of one shape may be the same part with other numbers.
    """

    text: str
    latex: str
    shape: tuple[object, ...]
    numbers: Mapping[str, float]


def _parts(model: TermModel, equation: str) -> list[_Part]:
    row = NAMES.index(equation)
    amplitude = model.amplitudes[row]
    terms = as_written(model.terms)[equation]
    drift = [_of_drift(feature(formula), size) for formula, size in terms.items()]
    noise = [_of_noise(amplitude), *map(_of_factor, amplitude.factors)]
    mixing = [] if model.mixing is None else [_of_mixing(model.mixing[row].tolist(), row)]
    return drift + noise + mixing


def _of_drift(shape: Feature, by_harmonic: Mapping[str, float]) -> _Part:
    latex = f"${latex_feature(shape)}$"
    if isinstance(shape, Saturating):
        numbers = {**by_harmonic, "scale": float(shape.scale)}
        return _Part(shape.text(), latex, (Saturating, shape.variable), numbers)
    return _Part(shape.text(), latex, (Feature, shape.text()), by_harmonic)


def _of_noise(amplitude: Amplitude) -> _Part:
    season = dict(zip(amplitude.harmonics, amplitude.modulation.tolist(), strict=True))
    if season.get(CONSTANT) == 1.0:
        del season[CONSTANT]
    return _Part("noise", "noise", (Amplitude,), {"level": float(amplitude.level), **season})


def _of_factor(factor: Factor) -> _Part:
    text, latex = f"noise, {factor.text()}", f"noise, ${latex_factor(factor)}$"
    match factor:
        case Ramp():
            numbers = {"slope": factor.slope, "floor": factor.floor, "ceiling": factor.ceiling}
            finite = {name: float(value) for name, value in numbers.items() if np.isfinite(value)}
            return _Part(text, latex, (Ramp, factor.variable, factor.power), finite)
        case Sigmoid():
            return _Part(text, latex, (Sigmoid, factor.variable), {"slope": float(factor.slope)})
    raise ValueError(f"the numbers of {factor.text()!r}, a kind of its own, are not known")


def _of_mixing(weights: Sequence[float], row: int) -> _Part:
    numbers = dict(zip(NAMES[: row + 1], weights[: row + 1], strict=True))
    return _Part("mixing", "mixing", ("mixing",), numbers)


# --- The numbers of two -----------------------------------------------------------------


def _pairs(
    original: Sequence[_Part], reduced: Sequence[_Part]
) -> Iterator[tuple[_Part | None, _Part | None]]:
    """Each part of the original with the same of the reduced; then what only that has."""
    unchanged = {part.text for part in original}
    left = list(reduced)
    for part in original:
        same = next((other for other in left if other.text == part.text), None)
        # One that is another part unchanged is not this one changed.
        changed = (o for o in left if o.shape == part.shape and o.text not in unchanged)
        partner = same or next(changed, None)
        if partner is not None:
            left.remove(partner)
        yield part, partner
    yield from ((None, part) for part in left)


def _rows(equation: str, original: _Part | None, reduced: _Part | None) -> Iterator[CoefficientRow]:
    named = original or reduced
    assert named is not None, "a pair has at least one part"
    before = {} if original is None else original.numbers
    after = {} if reduced is None else reduced.numbers
    for number in sorted(before.keys() | after.keys(), key=_ORDER.index):
        yield CoefficientRow(
            equation, named.text, named.latex, number, before.get(number), after.get(number)
        )
