"""Is the LaTeX well formed, and does the table hold every number of both models once?"""

import dataclasses
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.mathtext
import numpy as np
import pytest

from enso_jax.models import BUILT_IN, Ramp, Saturating, Sigmoid, TermModel, built_in, drift, noise
from enso_jax.state import NAMES
from enso_jax.written import (
    CoefficientRow,
    coefficient_table,
    coefficients_as_latex,
    coefficients_as_text,
    latex_equations,
)

MIXING = np.eye(5)
MIXING[4, :] = [0.6, 0.0, 0.0, 0.0, 0.8]


def rich(scales: tuple[float, float] = (0.35, 2e-7)) -> TermModel:
    """One model with everything that can be written."""
    first, second = scales
    terms = (
        *drift(
            "T_E",
            {
                "T_E": {"1": -1.5e-7, "s3": 0.2},
                "h_W": {"c2": -0.3},
                f"T_E^2/(1 + (T_E/{first})^2)": {"1": 0.5, "c1": 0.1},
                f"T_E^2/(1 + (T_E/{second})^2)": -0.2,
                "T_C^12 u": 0.7,
                "tau [tau > 0]": -0.8,
                "1": 0.01,
            },
        ),
        *drift("tau", {"T_C^3 [T_C > 0]": -1.0}),
    )
    factors = (Ramp("T_E", 2, -3.0, 0.2, 2.5), Ramp("T_C", 1, 4.0, 0.1), Sigmoid("u", -7.5))
    amplitudes = [noise(name, 0.1) for name in NAMES[:-1]]
    amplitudes.append(noise("tau", 0.4, {"c1": -0.6}, factors))
    return TermModel(terms, amplitudes, phase=-0.5, bound=3.0, mixing=MIXING)


MODELS = {name: built_in(name).build() for name in BUILT_IN} | {"rich": rich()}
every_model = pytest.mark.parametrize("name", MODELS)


# --- Equations ----------------------------------------------------------------------------


def assert_well_formed(latex: str) -> None:
    """Braces, brackets, dollars and environments close in the order in which they open."""
    pairs = {"}": "{", ")": "(", r"\bigr]": r"\bigl["}
    open_: list[str] = []
    tokens = r"\\begin\{(\w+)\}|\\end\{(\w+)\}|\\big[lr].|\\[a-z]+|\\.|[{}()$]"
    for match in re.finditer(tokens, latex):
        token = match[0]
        if match[1]:
            open_.append(match[1])
        elif match[2]:
            assert open_.pop() == match[2]
        elif token == "$":
            open_.pop() if open_[-1:] == ["$"] else open_.append("$")
        elif token in pairs.values():
            open_.append(token)
        elif token in pairs:
            assert open_.pop() == pairs[token]
    assert open_ == []


@pytest.mark.parametrize("bad", ["{", "$a", r"\begin{align}", "(}", r"\bigl[ 1 )"])
def test_what_is_not_well_formed_is_noticed(bad):
    with pytest.raises((AssertionError, IndexError)):
        assert_well_formed(bad)


@every_model
def test_equations_are_well_formed(name):
    assert_well_formed(latex_equations(MODELS[name]))


@every_model
def test_every_piece_of_an_equation_is_mathematics(name):
    """As far as matplotlib knows it, which has no ``align``."""
    text = latex_equations(MODELS[name])
    aligned = text.split("\\begin{align}\n")[1].split("\n\\end{align}")[0]
    lines = re.split(r"(?:\\nonumber)?\\\\\n", aligned)
    inline = re.findall(r"\$([^$]+)\$", text)
    parser = matplotlib.mathtext.MathTextParser("path")
    for line in [*lines, *inline]:
        plain = line.replace("&", " ").replace(r"\bigl[", "[").replace(r"\bigr]", "]")
        parser.parse(f"${plain.replace(chr(92) + 'qquad', ' ')}$")
    assert sum("&=" in line for line in lines) == len(NAMES)


def test_equations_say_what_the_models_own_text_says():
    text = latex_equations(rich())

    for piece in (
        r"\mathrm{d}T_\mathrm{E} &= \bigl[ (-1.5 \times 10^{-7} + 0.2\,s_3)\,T_\mathrm{E}",
        r"- 0.3\,c_2\,h_\mathrm{W}",
        r"+ (0.5 + 0.1\,c_1)\,\frac{T_\mathrm{E}^2}{1 + (T_\mathrm{E}/0.35)^2}",
        r"+ 0.7\,T_\mathrm{C}^{12}\,u",
        r"- 0.8\,\max(\tau, 0)",
        r"+ 0.01 \bigr]\,\mathrm{d}t",
        r"\bigl[ -1\,\max(T_\mathrm{C}, 0)^{3} \bigr]",
        r"+ 0.4\,(1 - 0.6\,c_1)\,\min(\max(1 - 3\,T_\mathrm{E}^{2}, 0.2), 2.5)",
        r"\max(1 + 4\,T_\mathrm{C}, 0.1)\,(1 + \tanh(-7.5\,u))\,\mathrm{d}W_{\tau}",
        r"\mathrm{d}u &= \bigl[ 0 \bigr]\,\mathrm{d}t + 0.1\,\mathrm{d}W_{u}",
        r"$c_k = \cos(2\pi k (t + 0.5)/12)$",
        r"correlated ($0.6$ for $T_\mathrm{C}$ and $\tau$)",
        r"within $\pm 3$",
        r"$2$ months",
    ):
        assert piece in text


def test_long_equations_go_on_in_the_next_line():
    lines = latex_equations(built_in("fable-5.1").build()).splitlines()

    assert sum(line.endswith(r"\nonumber\\") for line in lines) >= 5
    assert all(len(re.sub(r"\\[a-z]+|[{}]", "", line)) < 130 for line in lines[:-1])


# --- Coefficients -------------------------------------------------------------------------


def numbers_of(model: TermModel) -> list[float]:
    """All that a table holds of a model without mixing, in no order."""
    found = [value for term in model.terms for value in term.coefficients.tolist()]
    found += [
        float(term.feature.scale) for term in model.terms if isinstance(term.feature, Saturating)
    ]
    for amplitude in model.amplitudes:
        found += [float(amplitude.level), *amplitude.modulation.tolist()[1:]]
        found += [float(leaf) for leaf in jax.tree.leaves(amplitude.factors) if np.isfinite(leaf)]
    return sorted(found)


def test_a_table_holds_every_number_of_both_models():
    models = [built_in(name).build() for name in ("fable-5.1", "fable-5.1-simplified")]
    rows = coefficient_table(*models)

    for side, model in zip(("original", "reduced"), models, strict=True):
        values = [getattr(row, side) for row in rows]
        assert sorted(value for value in values if value is not None) == numbers_of(model)
    assert len({(row.equation, row.term, row.number) for row in rows}) == len(rows)


def row_of(rows: tuple[CoefficientRow, ...], *place: str) -> tuple[float | None, float | None]:
    (row,) = (row for row in rows if (row.equation, row.term, row.number) == place)
    return row.original, row.reduced


def test_what_was_dropped_and_what_was_refitted_stand_side_by_side():
    before = built_in("fable-5.1").build()
    rows = coefficient_table(before, built_in("fable-5.1-simplified").build())

    assert row_of(rows, "T_E", "T_E", "s1") == (-0.27, -0.3242342)
    assert row_of(rows, "T_C", "h_W", "s1") == (0.03, None)
    assert row_of(rows, "T_E", "T_E^2/(1 + (T_E/0.35)^2)", "scale") == (0.35, None)
    ramp = "noise, min(max(1 + 5.5 T_E, 0.2), 2.5)"
    assert row_of(rows, "T_E", ramp, "ceiling") == (2.5, 2.5)
    assert row_of(rows, "tau", "noise", "level") == (0.45, 0.45)
    assert not [row for row in rows if row.number == "ceiling" and row.term != ramp]


def test_a_scale_that_was_refitted_is_still_the_same_term():
    rows = coefficient_table(rich((0.35, 0.5)), rich((0.37, 0.6)))

    assert row_of(rows, "T_E", "T_E^2/(1 + (T_E/0.35)^2)", "scale") == (0.35, 0.37)
    assert row_of(rows, "T_E", "T_E^2/(1 + (T_E/0.35)^2)", "c1") == (0.1, 0.1)
    assert row_of(rows, "T_E", "T_E^2/(1 + (T_E/0.5)^2)", "scale") == (0.5, 0.6)


def test_a_term_that_stayed_is_not_taken_for_its_neighbour_that_went():
    before = rich((0.35, 0.5))
    left = [term for term in before.terms if "0.35" not in term.feature.text()]
    rows = coefficient_table(before, eqx.tree_at(lambda m: m.terms, before, tuple(left)))

    assert row_of(rows, "T_E", "T_E^2/(1 + (T_E/0.35)^2)", "scale") == (0.35, None)
    assert row_of(rows, "T_E", "T_E^2/(1 + (T_E/0.5)^2)", "scale") == (0.5, 0.5)


def test_a_factor_that_was_refitted_or_dropped_is_the_same_by_its_shape():
    before, after = rich(), rich()
    kept = after.amplitudes[4].factors[1:]
    refitted = eqx.tree_at(lambda f: f.slope, kept[0], jnp.asarray(4.4))
    after = eqx.tree_at(lambda m: m.amplitudes[4].factors, after, (refitted, kept[1]))
    rows = coefficient_table(before, after)

    assert row_of(rows, "tau", "noise, max(1 + 4 T_C, 0.1)", "slope") == (4.0, 4.4)
    dropped = "noise, min(max(1 - 3 T_E^2, 0.2), 2.5)"
    assert row_of(rows, "tau", dropped, "slope") == (-3.0, None)
    assert row_of(rows, "tau", "mixing", "T_C") == (0.6, 0.6)


def test_what_only_the_reduced_model_has_comes_last_in_its_equation():
    before, after = (
        TermModel(drift("u", terms), [noise(name, 0.1) for name in NAMES])
        for terms in ({"u": 1.0}, {"T_C": 2.0, "u": 3.0})
    )
    drift_rows = [row for row in coefficient_table(before, after) if row.term != "noise"]

    assert [(row.term, row.original, row.reduced) for row in drift_rows] == [
        ("u", 1.0, 3.0),
        ("T_C", None, 2.0),
    ]


def test_rows_are_data():
    row = coefficient_table(rich(), rich())[0]

    assert dataclasses.replace(row) == row
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.original = 1.0


def test_plain_columns_are_aligned_and_a_dash_is_what_is_not_there():
    rows = coefficient_table(*pair())
    text = coefficients_as_text(rows)
    head, *lines = text.splitlines()

    assert head.split() == ["equation", "term", "number", "original", "reduced"]
    assert len(lines) == len(rows)
    assert len({len(line) for line in (head, *lines)}) == 1
    for line, row in zip(lines, rows, strict=True):
        assert line.split()[-1] == ("-" if row.reduced is None else f"{row.reduced:.6g}")


def pair() -> tuple[TermModel, TermModel]:
    return MODELS["fable-5.1"], MODELS["fable-5.1-simplified"]


def test_a_tabular_is_well_formed_and_has_a_line_for_each_number():
    for models in (pair(), (rich(), rich((0.4, 1e-7)))):
        rows = coefficient_table(*models)
        latex = coefficients_as_latex(rows)
        lines = [line for line in latex.splitlines() if line.endswith(r"\\")]

        assert_well_formed(latex)
        assert len(lines) == len(rows) + 1
        assert {line.count("&") for line in lines} == {4}
        outside = re.sub(r"\$[^$]*\$", "", latex)
        assert not re.search(r"[_^%#]", outside)
        dashes = sum(line.count("--") for line in lines)
        assert dashes == sum((row.original is None) + (row.reduced is None) for row in rows)
