"""Are the built-in models the printed ones, and are models data?"""

import equinox as eqx
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import numpy_fable
import pytest
from as_written import advance_month, over_members
from hypothesis import given

from enso_jax.experiments import RecordedNoise, SeededNoise, forecast, free_run, smooth
from enso_jax.models import (
    BUILT_IN,
    Feature,
    Multiscale,
    OneSided,
    Saturating,
    TermModel,
    UnknownModelError,
    built_in,
    drift,
    feature,
    noise,
)
from enso_jax.state import H_W, MONTHS_PER_YEAR, NAMES, T_C, T_E, TAU, VARIABLES, U

MEMBERS = 7
MONTHS, STEPS = 12, 30
DT = 1.0 / STEPS


@pytest.fixture(params=BUILT_IN)
def name(request) -> str:
    """Each built-in model's name."""
    return request.param


@pytest.fixture
def model(name) -> TermModel:
    return built_in(name).build()


@pytest.fixture
def states() -> np.ndarray:
    """Five hundred states about as large as observed ones, and a few much larger."""
    rng = np.random.default_rng(1)
    states = 0.3 * rng.standard_normal((5, 500)) * numpy_fable.SCALES[:, None]
    states[:, :20] *= 5.0
    return states


@eqx.filter_jit
def run(model, state, noise):
    """States ``(month, variable, member)`` at the months' ends."""

    def one_month(state, inputs):
        month, noise = inputs
        state = advance_month(over_members(model), state, month, noise)
        return state, state

    months = jnp.arange(noise.shape[0], dtype=state.dtype)
    return jax.lax.scan(one_month, state, (months, noise))[1]


def ensemble_and_noise(seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    start = 0.1 * rng.standard_normal((5, MEMBERS)) * numpy_fable.SCALES[:, None]
    return start, rng.standard_normal((MONTHS, STEPS, 5, MEMBERS))


# --- The printed equations --------------------------------------------------------------


def test_a_compiled_run_equals_a_plain_numpy_loop(name, model):
    start, noise = ensemble_and_noise()

    compiled = run(model, jnp.asarray(start), jnp.asarray(noise))

    by_hand = numpy_fable.run(name, start, 0.0, noise)
    np.testing.assert_allclose(compiled / by_hand, 1.0, rtol=1e-10)


def test_without_noise_a_step_follows_the_written_drift(name, model, states):
    # Euler's step is linear in dt; states within one step of the bound are left out.
    states = states[:, np.abs(states / numpy_fable.SCALES[:, None]).max(axis=0) < 2.0]
    for t in (0.0, 3.3, 11.9):
        step = over_members(model)(
            jnp.asarray(states), jnp.asarray(t), jnp.asarray(DT), jnp.zeros(states.shape)
        )

        difference = (np.asarray(step) - states) / DT
        written = numpy_fable.drift(name, states, t)
        np.testing.assert_allclose(
            difference / numpy_fable.SCALES[:, None],
            written / numpy_fable.SCALES[:, None],
            rtol=1e-10,
            atol=1e-12,
        )


def test_noise_enters_with_the_square_root_of_the_step(model, states):
    # Without a bound: a state that is clipped is kicked less.
    step = over_members(eqx.tree_at(lambda m: m.bound, model, jnp.asarray(jnp.inf)))
    states, t = jnp.asarray(states), jnp.asarray(4.0)

    def kick(dt):
        noisy, still = jnp.ones(states.shape), jnp.zeros(states.shape)
        return step(states, t, jnp.asarray(dt), noisy) - step(states, t, jnp.asarray(dt), still)

    np.testing.assert_allclose(kick(4 * DT), 2 * kick(DT), rtol=1e-9, atol=1e-12)


def test_the_bound_of_the_printed_models_keeps_every_state_within_it():
    model = built_in("fable-5.1").build()
    far = jnp.asarray([1e3, -1e3, 1e5, -1e3, 1e3])

    state = model(far, jnp.asarray(0.0), jnp.asarray(DT), jnp.zeros(5))

    np.testing.assert_allclose(np.abs(state / numpy_fable.SCALES), 3.0)


def test_the_bound_hides_no_nan():
    model = built_in("fable-5.1").build()
    broken = jnp.asarray([jnp.nan, 0.0, 0.0, 0.0, 0.0])

    state = model(broken, jnp.asarray(0.0), jnp.asarray(DT), jnp.zeros(5))

    assert np.isnan(state[T_C])


# --- Six variables and five ---------------------------------------------------------------


def test_six_variables_with_the_background_at_its_mean_step_as_five(states):
    rng = np.random.default_rng(3)
    normals = rng.standard_normal((5, states.shape[1]))
    background = np.full((1, states.shape[1]), 2.0)
    quiet = np.zeros_like(background)
    t, dt = jnp.asarray(7.7), jnp.asarray(DT)

    five = over_members(built_in("multiscale-5").build())(
        jnp.asarray(states), t, dt, jnp.asarray(normals)
    )
    six = over_members(Multiscale())(
        jnp.concatenate([states, background]), t, dt, jnp.concatenate([normals, quiet])
    )

    np.testing.assert_allclose(six[:5], five, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(six[5], 2.0, rtol=1e-15)


def test_six_variables_step_as_written_at_any_background(states):
    rng = np.random.default_rng(4)
    background = rng.uniform(0.5, 3.5, states.shape[1])
    normals = rng.standard_normal((6, states.shape[1]))
    t, d = 2.2, DT / 2

    six = over_members(Multiscale())(
        jnp.concatenate([states, background[None]]),
        jnp.asarray(t),
        jnp.asarray(DT),
        jnp.asarray(normals),
    )

    x = states / numpy_fable.SCALES[:, None]
    tendency, amplitude = numpy_fable.multiscale(x, t, background)
    five = x + tendency * d + amplitude * np.sqrt(d) * normals[:5]
    spread = np.sqrt(background * (4 - background) / 30)
    sixth = background - (background - 2) / 30 * d + spread * np.sqrt(d) * normals[5]
    np.testing.assert_allclose(six[:5], five * numpy_fable.SCALES[:, None], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(six[5], sixth, rtol=1e-12)


def test_the_background_never_leaves_zero_to_four():
    state = jnp.asarray([[0.0] * 5 + [0.01], [0.0] * 5 + [3.99]]).T
    kick = jnp.zeros((6, 2)).at[5].set(jnp.asarray([-1e3, 1e3]))

    after = over_members(Multiscale())(state, jnp.asarray(0.0), jnp.asarray(DT), kick)

    np.testing.assert_array_equal(after[5], [0.0, 4.0])


@pytest.mark.slow
def test_six_variables_have_the_published_long_run_statistics():
    members, spin_up, years = 120, 30, 71
    months = MONTHS_PER_YEAR * (spin_up + years)

    @jax.jit
    def monthly_means(key):
        step = over_members(Multiscale())

        def one_step(carry, number):
            state, month, normals = carry
            state = step(state, month + number * DT, jnp.asarray(DT), normals[number.astype(int)])
            return (state, month, normals), state

        def one_month(state, month):
            normals = jax.random.normal(jax.random.fold_in(key, month), (STEPS, 6, members))
            carry = state, month.astype(float), normals
            (state, _, _), path = jax.lax.scan(one_step, carry, jnp.arange(STEPS, dtype=float))
            return state, path.mean(axis=0)

        start = jnp.zeros((6, members)).at[5].set(2.0)
        return jax.lax.scan(one_month, start, jnp.arange(months))[1]

    means = np.asarray(monthly_means(jax.random.key(0)))[12 * spin_up :]

    # Each printed statistic is a mean over 120 members, and so is each of these: both err by
    # the members' spread over sqrt(120), their difference by sqrt(2) times that. Four such
    # deviations for seven numbers, and half a unit of the last printed digit.
    deviation = means.std(axis=0, ddof=1)
    anomaly = means - means.mean(axis=0)
    skewness = (anomaly**3).mean(axis=0) / (anomaly**2).mean(axis=0) ** 1.5
    printed = [
        (deviation[U], 0.103, 0.0005),
        (deviation[H_W], 13.0, 0.05),
        (deviation[T_C], 0.64, 0.005),
        (deviation[T_E], 0.92, 0.005),
        (deviation[TAU], 2.24, 0.005),
        (skewness[T_C], -0.18, 0.005),
        (skewness[T_E], 0.83, 0.005),
    ]
    for by_member, value, rounding in printed:
        sampling = np.sqrt(2.0 / members) * by_member.std(ddof=1)
        assert by_member.mean() == pytest.approx(value, abs=4.0 * sampling + rounding)


# --- Models as data -----------------------------------------------------------------------


#: Each experiment with the arrays that it takes besides a model, its noise and the protocol.
EXPERIMENTS = {
    "free run": (free_run, ()),
    "smoother": (smooth, (jnp.zeros((6, 5)), jnp.ones(5))),
    "forecast": (forecast, (jnp.zeros((3, 5)), jnp.arange(3))),
}


def scaled(model: TermModel, factor: float) -> TermModel:
    """The same structure with every drift coefficient `factor` times as large."""
    return eqx.tree_at(
        lambda m: [term.coefficients for term in m.terms],
        model,
        replace_fn=lambda coefficients: factor * coefficients,
    )


def test_models_of_one_structure_step_together_as_they_step_alone(model, stack):
    models = [scaled(model, factor) for factor in (1.0, 0.9, 1.05)]
    state, noise = ensemble_and_noise()
    state, noise = jnp.asarray(state), jnp.asarray(noise)

    together = eqx.filter_vmap(run, in_axes=(eqx.if_array(0), None, None))(
        stack(*models), state, noise
    )

    for one, alone in zip(together, models, strict=True):
        np.testing.assert_allclose(one, run(alone, state, noise), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_new_parameters_compile_nothing_new(
    experiment, linear, exploding, small_protocol, count_traces
):
    protocol = small_protocol(free_run_years=8)
    noise = SeededNoise(jax.random.key(0))
    function, arrays = EXPERIMENTS[experiment]
    jitted, traces = count_traces(function)

    for step in (linear.model, scaled(linear.model, 0.9), exploding):
        jitted(step, *arrays, noise, protocol)
    jitted(linear.model, *arrays, SeededNoise(jax.random.key(1)), small_protocol(free_run_years=8))

    assert len(traces) == 1


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_state_is_as_precise_as_the_protocol_says(experiment, precision, small_protocol, linear):
    protocol = small_protocol(free_run_years=8, state_dtype=precision, noise_dtype="float32")
    noise = SeededNoise(jax.random.key(0))
    function, arrays = EXPERIMENTS[experiment]

    outcome = eqx.filter_jit(function)(linear.model, *arrays, noise, protocol)

    floats = [leaf.dtype for leaf in jax.tree.leaves(outcome) if eqx.is_inexact_array(leaf)]
    assert floats == [precision] * len(floats)


# --- Terms, and how they are written ------------------------------------------------------


def test_every_feature_of_a_built_in_model_is_read_back_from_its_text(model):
    for term in model.terms:
        assert eqx.tree_equal(feature(term.feature.text()), term.feature)


powers = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(1, 9)), max_size=5, unique_by=lambda p: p[0]
)


@given(powers)
def test_every_monomial_is_read_back_from_its_text(powers):
    text = " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers) or "1"

    shape = feature(text)

    assert shape.text() == text
    assert eqx.tree_equal(feature(shape.text()), shape)
    assert shape.linear == (sum(power for _, power in powers) <= 1)


@given(st.sampled_from(NAMES), st.integers(1, 9), st.integers(1, 999_999))
def test_one_sided_and_saturating_features_are_read_back_from_their_text(variable, power, scale):
    shapes: list[Feature] = [OneSided(variable, power), Saturating(variable, scale / 1e6)]

    for shape in shapes:
        assert eqx.tree_equal(feature(shape.text()), shape)
        assert not shape.linear


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("1", 1.0),
        ("T_E", -0.5),
        ("T_C h_W^2", 0.4 * 0.09),
        ("T_E^2/(1 + (T_E/0.25)^2)", 0.25 / 5.0),
        ("T_C^2 [T_C > 0]", 0.16),
        ("T_E^2 [T_E > 0]", 0.0),
        ("T_E [T_E > 0]", 0.0),
    ],
)
def test_a_feature_is_worth_what_its_formula_says(formula, value):
    x = {"T_C": jnp.asarray(0.4), "T_E": jnp.asarray(-0.5), "h_W": jnp.asarray(0.3)}

    assert float(feature(formula)(x)) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("formula", ["", "T_X", "T_C**2", "T_C^-1", "T_C [T_E > 0]", "sin(T_C)"])
def test_a_formula_of_no_known_form_is_refused(formula):
    with pytest.raises(ValueError, match="is not"):
        feature(formula)


def test_an_unknown_harmonic_is_refused_by_name():
    with pytest.raises(ValueError, match="c9"):
        drift("T_E", {"T_E": {"1": -0.1, "c9": 0.2}})


def test_a_model_needs_one_amplitude_for_each_variable():
    amplitudes = [noise(name, 0.1) for name in NAMES]

    with pytest.raises(ValueError, match="one noise amplitude for each"):
        TermModel([], amplitudes[:4])
    with pytest.raises(ValueError, match="one noise amplitude for each"):
        TermModel([], amplitudes[::-1])


def test_a_drift_equation_of_no_variable_is_refused():
    with pytest.raises(ValueError, match="salinity"):
        TermModel(drift("salinity", {"T_C": 1.0}), [noise(name, 0.1) for name in NAMES])


@pytest.mark.parametrize(
    ("name", "coefficients"), [("fable-5.1", 49), ("fable-5.1-simplified", 34)]
)
def test_a_printed_model_has_as_many_drift_coefficients_as_printed(name, coefficients):
    terms = built_in(name).build().terms

    assert sum(term.coefficients.size for term in terms) == coefficients


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("fable-5.1", "nonlinear drift, multiplicative noise"),
        ("fable-5.1-simplified", "linear drift, multiplicative noise"),
        ("multiscale-5", "nonlinear drift, multiplicative noise"),
    ],
)
def test_a_model_tells_its_family_in_the_papers_words(name, family):
    assert built_in(name).build().family == family


def test_the_linear_gaussian_model_is_of_the_plainest_family(linear):
    assert linear.model.family == "linear drift, additive noise"


def test_equations_are_written_one_for_each_variable(model):
    equations = model.equations()

    assert [equation.split(" = ")[0] for equation in equations] == [f"d{name}" for name in NAMES]


def test_a_linear_coupling_and_its_seasonal_cycle_are_groups_of_their_own():
    groups = [term.group for term in drift("T_E", {"h_W": {"1": 0.06, "s1": 0.1}, "T_E^3": -1.0})]

    assert groups == ["linear/T_E", "seasonal/T_E/h_W", "nonlinear/T_E"]


# --- The library of models ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "meant"), [("fable-51", "fable-5.1"), ("multiscale", "multiscale-5")]
)
def test_an_unknown_model_is_answered_in_a_sentence_with_near_names(typed, meant):
    with pytest.raises(UnknownModelError) as caught:
        built_in(typed)

    sentence = str(caught.value)
    assert typed in sentence
    assert meant in sentence
    assert "\n" not in sentence
    assert sentence.endswith(("?", "."))


def test_a_name_like_no_other_is_answered_with_all_of_them():
    with pytest.raises(UnknownModelError) as caught:
        built_in("zzz")

    assert all(name in str(caught.value) for name in BUILT_IN)


def test_published_scores_make_up_their_own_composite(name):
    published = built_in(name).published

    composite = 0.3 * published.statistical + 0.3 * published.dynamical + 0.4 * published.predictive
    assert published.composite == pytest.approx(composite, abs=0.001)


def test_scales_are_those_of_the_variables():
    np.testing.assert_array_equal([v.scale for v in VARIABLES], numpy_fable.SCALES)


def test_recorded_noise_gives_its_blocks_by_number():
    values = jnp.arange(24.0).reshape(3, 8)

    block = RecordedNoise(values).block(jnp.asarray(1), (2, 4))

    np.testing.assert_array_equal(block, [[8, 9, 10, 11], [12, 13, 14, 15]])
