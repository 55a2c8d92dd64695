"""Does a model come back from its file with the same numbers, and is a bad file told why?"""

import copy
import json
from collections.abc import Callable

import equinox as eqx
import hypothesis.strategies as st
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

from enso_jax.models import (
    BUILT_IN,
    HARMONICS,
    Amplitude,
    Factor,
    Ramp,
    Sigmoid,
    Term,
    TermModel,
    built_in,
    drift,
    feature,
    noise,
)
from enso_jax.state import NAMES
from enso_jax.written import ModelFileError, term_model_from_json, term_model_to_json

PLAIN = tuple(noise(name, 0.1) for name in NAMES)


def again(model: TermModel) -> TermModel:
    return term_model_from_json(term_model_to_json(model))


# --- There and back -----------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_model_comes_back_as_it_was(name):
    model = built_in(name).build()

    # Its groups, its harmonics and the order of its terms are static, and so compared too.
    assert eqx.tree_equal(again(model), model)


numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
sizes = st.floats(1e-3, 1e3)
variables = st.sampled_from(NAMES)
seasons = st.dictionaries(st.sampled_from(HARMONICS), numbers, min_size=1, max_size=4)
monomials = st.lists(
    st.tuples(variables, st.integers(1, 5)), max_size=3, unique_by=lambda power: power[0]
).map(lambda powers: " ".join(f"{name}^{power}" for name, power in powers) or "1")
formulas = st.one_of(
    monomials,
    st.builds("{0}^{1} [{0} > 0]".format, variables, st.integers(1, 4)),
    st.builds("{0}^2/(1 + ({0}/{1!r})^2)".format, variables, sizes),
)
factors = st.one_of(
    st.builds(Sigmoid, variables, numbers),
    st.builds(
        Ramp, variables, st.integers(1, 3), numbers, numbers, st.one_of(numbers, st.just(np.inf))
    ),
)


@st.composite
def mixings(draw) -> np.ndarray:
    numbers = draw(st.lists(st.floats(-1, 1), min_size=25, max_size=25))
    lower = np.tril(np.reshape(numbers, (5, 5))) + 2.0 * np.eye(5)
    return lower / np.linalg.norm(lower, axis=1, keepdims=True)


@st.composite
def models(draw) -> TermModel:
    terms = [
        term
        for name in NAMES
        for term in drift(name, draw(st.dictionaries(formulas, seasons, max_size=3)))
    ]
    amplitudes = [
        noise(name, draw(sizes), draw(seasons), tuple(draw(st.lists(factors, max_size=2))))
        for name in NAMES
    ]
    return TermModel(
        terms,
        amplitudes,
        phase=draw(numbers),
        bound=draw(st.one_of(sizes, st.just(np.inf))),
        scales=draw(st.lists(sizes, min_size=5, max_size=5)),
        time_scale=draw(sizes),
        mixing=draw(st.one_of(st.none(), mixings())),
    )


@settings(max_examples=25)
@given(models())
def test_any_model_comes_back_with_the_same_numbers_and_groups(model):
    text = term_model_to_json(model)
    read = term_model_from_json(text)

    # Two formulas may be one feature (T_C and T_C^1), which is then written once.
    assert term_model_to_json(read) == text
    for name in ("scales", "time_scale", "phase", "bound", "mixing", "amplitudes"):
        assert eqx.tree_equal(getattr(read, name), getattr(model, name)), name
    if len({(term.equation, term.group, term.feature.text()) for term in model.terms}) == len(
        model.terms
    ):
        assert by_place(read) == by_place(model)


def by_place(model: TermModel) -> dict[tuple[str, str, str], dict[str, float]]:
    """Coefficients by equation, group and formula."""
    return {
        (term.equation, term.group, term.feature.text()): dict(
            zip(term.harmonics, term.coefficients.tolist(), strict=True)
        )
        for term in model.terms
    }


def test_terms_of_one_feature_stand_together_and_are_summed():
    def term(group: str, harmonics: tuple[str, ...], *coefficients: float) -> Term:
        return Term("T_E", group, feature("T_E"), harmonics, jnp.asarray(coefficients))

    mine, yours = term("mine", ("1",), 0.5), term("yours", ("1", "s1"), 2.0, 3.0)
    text = term_model_to_json(TermModel([mine, *drift("T_E", {"h_W": 1.0}), yours], PLAIN))

    assert json.loads(text)["drift"]["T_E"] == {"T_E": {"1": 2.5, "s1": 3.0}, "h_W": 1.0}
    groups = [term.group for term in term_model_from_json(text).terms]
    assert groups == ["linear/T_E", "seasonal/T_E/T_E", "linear/T_E"]


def test_a_seasonal_noise_without_a_mean_keeps_its_values():
    odd = Amplitude("T_C", "of a kind of its own", 2.0, ("s2",), jnp.asarray([0.5]))
    model = again(TermModel([], [odd, *PLAIN[1:]]))

    at = jnp.zeros(5), jnp.asarray(1.0)
    assert model.amplitudes[0].group == "additive/T_C"
    np.testing.assert_array_equal(
        model.diffusion(*at), TermModel([], [odd, *PLAIN[1:]]).diffusion(*at)
    )


def test_a_file_has_a_line_for_each_term():
    lines = term_model_to_json(built_in("fable-5.1").build()).splitlines()

    assert '      "h_W": {"1": 0.05899, "s1": 0.1},' in lines
    assert '      "T_E^2/(1 + (T_E/0.35)^2)": {"1": 0.505, "s1": -0.606},' in lines
    assert max(map(len, lines)) <= 120


# --- What is no file ----------------------------------------------------------------------

CONTENTS = json.loads(term_model_to_json(built_in("multiscale-5").build()))


def edited(edit: Callable[[dict], object]) -> str:
    contents = copy.deepcopy(CONTENTS)
    edit(contents)
    return json.dumps(contents)


BAD = {
    "nothing": ("", "Expecting value: line 1"),
    "no JSON": ("{'a': 1}", "Expecting property name"),
    "no object": ("[]", "it is JSON, but no object"),
    "too deep": ("[" * 100_000, "recursion depth"),
    "a name twice": ('{"version": 1, "version": 1}', "'version' stands twice"),
    "another version": (edited(lambda c: c.update(version=2)), "at version, input should be 1"),
    "another format": (edited(lambda c: c.update(format="x")), "at format, "),
    "a name too many": (edited(lambda c: c.update(bounds=3.0)), "at bounds, "),
    "a name too few": (edited(lambda c: c.pop("bound")), "at bound, field required"),
    "no variable": (
        edited(lambda c: c["drift"].update(salinity={})),
        "at drift, there is one entry for each of",
    ),
    "a variable too few": (edited(lambda c: c["scales"].pop("u")), "at scales, there is one"),
    "a scale of 0": (edited(lambda c: c["scales"].update(u=0.0)), 'at scales["u"], '),
    "no formula": (
        edited(lambda c: c["drift"]["T_E"].update({"T_X u": 1.0})),
        """at drift["T_E"]["T_X u"], 'T_X' in 'T_X u' is not a variable""",
    ),
    "a scale that is no number": (
        edited(lambda c: c["drift"]["T_E"].update({"u^2/(1 + (u/one)^2)": 1.0})),
        """at drift["T_E"]["u^2/(1 + (u/one)^2)"], could not convert""",
    ),
    "a scale that is NaN": (
        edited(lambda c: c["drift"]["T_E"].update({"u^2/(1 + (u/nan)^2)": 1.0})),
        "is not a finite number other than 0",
    ),
    "NaN": (edited(lambda c: c["drift"]["u"].update(u=np.nan)), 'at drift["u"]["u"]["1"], '),
    "Infinity": (edited(lambda c: c.update(bound=np.inf)), "at bound, input should be a finite"),
    "a text for a number": (
        edited(lambda c: c["drift"]["u"].update(u="0.3")),
        """at drift["u"]["u"], a coefficient is a number, or""",
    ),
    "a truth for a number": (
        edited(lambda c: c["drift"]["u"].update(u=True)),
        """at drift["u"]["u"], a coefficient is a number, or""",
    ),
    "no harmonics": (edited(lambda c: c["drift"]["u"].update(u={})), 'at drift["u"]["u"], '),
    "an unknown harmonic": (
        edited(lambda c: c["drift"]["u"].update(u={"c9": 1.0})),
        """at drift["u"]["u"], ['c9'] are no harmonics""",
    ),
    "a season without a mean": (
        edited(lambda c: c["noise"]["u"].update(season={"c1": 1.0})),
        """at noise["u"]["season"], the mean is missing""",
    ),
    "an unknown factor": (
        edited(lambda c: c["noise"]["u"]["factors"].append({"kind": "step"})),
        """at noise["u"]["factors"][0], """,
    ),
    "a factor of no variable": (
        edited(
            lambda c: c["noise"]["u"]["factors"].append(
                {"kind": "sigmoid", "variable": "x", "slope": 1.0}
            )
        ),
        "'x' is none of the variables",
    ),
    "a mixing of four": (edited(lambda c: c.update(mixing=[[1.0] * 5] * 4)), "at mixing, "),
    "a mixing that is not triangular": (
        edited(lambda c: c.update(mixing=[[1.0] * 5] * 5)),
        "mixing is lower triangular",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_answered_in_a_sentence_that_says_what_and_where(case):
    text, said = BAD[case]

    with pytest.raises(ModelFileError) as caught:
        term_model_from_json(text)

    assert_sentence(caught.value, "The text is no term model: ")
    assert said in str(caught.value)


def assert_sentence(error: ModelFileError, beginning: str) -> None:
    sentence = str(error)
    assert sentence.startswith(beginning)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "pydantic" not in sentence
    assert "_File" not in sentence


class Step(Factor):
    """A factor that the format does not know."""

    def __call__(self, x):
        return jnp.where(x["T_C"] > 0, 2.0, 1.0)

    def text(self):
        return "step(T_C)"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (TermModel(drift("u", {"u": np.nan}), PLAIN), 'at drift["u"]["u"]["1"], '),
        (TermModel([], [noise("T_C", np.inf), *PLAIN[1:]]), 'at noise["T_C"]["level"], '),
        (TermModel([], [noise("T_C", 1.0, factors=(Step(),)), *PLAIN[1:]]), "not step(T_C)"),
        (TermModel([], PLAIN, bound=-1.0), "at bound, "),
    ],
    ids=["a NaN", "an infinite level", "a factor of its own", "a negative bound"],
)
def test_what_cannot_be_a_file_is_said_in_a_sentence(model, said):
    with pytest.raises(ModelFileError) as caught:
        term_model_to_json(model)

    assert_sentence(caught.value, "The model cannot be written: ")
    assert said in str(caught.value)
