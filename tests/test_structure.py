"""Does a model that is only known by what it does come back as its terms?"""

import re
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import LINEAR_DRIFT, LINEAR_NOISE, linear_model
from hypothesis import given, settings
from hypothesis import strategies as st

from enso_jax.fitting import Samples, sample
from enso_jax.grading import examine_submission
from enso_jax.models import Ramp, Sigmoid, Step, TermModel, built_in, drift, noise
from enso_jax.protocol import Protocol
from enso_jax.simplify.structure import DRIFT_SHARE, NOISE_SHARE, Structure, find_structure
from enso_jax.simplify.structure._selection import Search, sweep
from enso_jax.state import NAMES, TIME_SCALE_MONTHS, VARIABLES
from enso_jax.submissions import choose, read_folder

PROTOCOL = Protocol()
YEARS = 300
SCALES = np.array([variable.scale for variable in VARIABLES])


def structure_of(step: Step, years: int = YEARS) -> Structure:
    return find_structure(sample(step, PROTOCOL, years=years))


def coefficients(model: TermModel) -> dict[tuple[str, str, str], float]:
    """Every coefficient by equation, feature and harmonic; bends in four digits."""
    return {
        (term.equation, rounded(term.feature.text()), harmonic): float(value)
        for term in model.terms
        for harmonic, value in zip(term.harmonics, term.coefficients, strict=True)
    }


def rounded(formula: str) -> str:
    return re.sub(r"\d+\.\d+", lambda match: f"{float(match[0]):.4g}", formula)


def groups(model: TermModel) -> set[str]:
    return {part.group for part in (*model.terms, *model.amplitudes)}


def visited(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """States as large as those of the built-in models, and times as a sample has them."""
    rng = np.random.default_rng(seed)
    state = rng.standard_normal((count, 5)) * (0.12 * SCALES * [1, 1, 1, 1, 4])
    return state, 0.2 * rng.integers(0, 60, count)


def observed(model: TermModel, count: int = 4000, seed: int = 0) -> Samples:
    """What a model does at states that no run of it has to visit."""
    state, t = visited(count, seed)
    f, g = evaluated(model, state, t)
    f, g = f * SCALES / TIME_SCALE_MONTHS, g * SCALES / np.sqrt(TIME_SCALE_MONTHS)
    C = np.eye(5) if model.mixing is None else np.asarray(model.mixing)
    covariance = g[:, :, None] * (C @ C.T) * g[:, None, :]
    return Samples(state, t, f, covariance, np.zeros(5))


@eqx.filter_jit
def _evaluated(model, state, t):
    return jax.vmap(model.drift)(state, t), jax.vmap(model.diffusion)(state, t)


def evaluated(model: TermModel, state: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drift and amplitudes at many states."""
    f, g = _evaluated(model, jnp.asarray(state), jnp.asarray(t))
    return np.asarray(f), np.asarray(g)


class Altered(Step):
    """A linear model whose increments `change` alters: ``change(state, dt, noise)`` is added."""

    model: TermModel
    change: Callable = eqx.field(static=True)
    noise_size: int = eqx.field(static=True, default=5)

    def __call__(self, state, t, dt, noise):
        return self.model(state, t, dt, noise) + self.change(state, dt, noise)


# --- Models of the library come back ----------------------------------------------------


@pytest.fixture(scope="module")
def fable() -> TermModel:
    return built_in("fable-5.1").build()


@pytest.fixture(scope="module")
def fable_samples(fable) -> Samples:
    return sample(fable, PROTOCOL, years=YEARS)


@pytest.fixture(scope="module")
def fable_found(fable_samples) -> Structure:
    return find_structure(fable_samples)


def test_the_drift_of_a_model_of_the_library_is_found_term_by_term(fable, fable_found):
    assert coefficients(fable_found.model) == pytest.approx(coefficients(fable), rel=1e-4)


def test_its_noise_is_found(fable, fable_found):
    state, t = visited(1000, seed=1)

    _, wanted = evaluated(fable, state, t)
    _, found = evaluated(fable_found.model, state, t)

    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert fable_found.model.mixing is None


def test_groups_are_called_as_in_a_model_that_was_written_down(fable, fable_found):
    assert groups(fable_found.model) == groups(fable)


def test_all_of_it_is_explained(fable_found):
    for shares in (fable_found.drift_share, fable_found.noise_share):
        assert min(shares.values()) > 0.999999
    assert fable_found.faults() == ()


def test_only_the_noise_that_follows_the_state_is_state_dependent(fable_found):
    multiplicative = {name for name, share in fable_found.state_dependence.items() if share > 1e-9}

    assert multiplicative == {"T_C", "T_E", "h_W", "tau"}


def test_the_found_model_makes_the_same_run_of_the_same_noise(fable_samples, fable_found):
    run = sample(fable_found.model, PROTOCOL, years=YEARS)

    np.testing.assert_allclose(run.state, fable_samples.state, atol=1e-4)


def test_a_linear_model_comes_back_linear_and_additive(linear):
    found = structure_of(linear.model)

    wanted = {
        (target, source, "1"): TIME_SCALE_MONTHS * LINEAR_DRIFT[i, j] * SCALES[j] / SCALES[i]
        for i, target in enumerate(NAMES)
        for j, source in enumerate(NAMES)
    }
    levels = [float(amplitude.level) for amplitude in found.model.amplitudes]
    assert coefficients(found.model) == pytest.approx(wanted, rel=1e-6)
    assert found.model.family == "linear drift, additive noise"
    assert levels == pytest.approx(LINEAR_NOISE * np.sqrt(TIME_SCALE_MONTHS) / SCALES, rel=1e-6)
    assert found.faults() == ()


@pytest.mark.parametrize("name", ["fable-5.1-simplified", "multiscale-5"])
def test_the_other_built_in_models_come_back(name):
    model = built_in(name).build()
    # In its own phase, since harmonics of another are other coefficients.
    found = find_structure(observed(model), phase=float(model.phase))

    assert found.faults() == ()
    assert groups(found.model) == groups(model)
    assert coefficients(found.model) == pytest.approx(coefficients(model), rel=1e-3, abs=1e-9)


def test_correlated_noise_comes_back_as_a_mixing():
    rng = np.random.default_rng(0)
    C = np.tril(rng.uniform(-0.5, 0.5, (5, 5)), -1) + np.eye(5)
    C /= np.linalg.norm(C, axis=1, keepdims=True)
    model = linear_model(LINEAR_DRIFT, LINEAR_NOISE)
    amplitudes = [noise(name, 0.1) for name in NAMES]

    found = find_structure(observed(TermModel(model.terms, amplitudes, mixing=C)))

    np.testing.assert_allclose(found.model.mixing, C, atol=1e-9)
    assert found.correlation_share == pytest.approx(1.0)


def test_two_equations_may_share_one_noise():
    C = np.eye(5)
    C[3] = C[1]
    model = TermModel((), [noise(name, 0.1) for name in NAMES], mixing=C)

    found = find_structure(observed(model))

    mixing = np.asarray(found.model.mixing)
    np.testing.assert_allclose(mixing @ mixing.T, C @ C.T, atol=1e-7)


# --- Equations with little in them --------------------------------------------------------


def test_an_equation_without_noise_has_an_amplitude_of_zero():
    sigma = LINEAR_NOISE.copy()
    sigma[3] = 0.0

    found = structure_of(linear_model(LINEAR_DRIFT, sigma))

    assert float(found.model.amplitudes[3].level) == 0.0
    assert found.noise_share["u"] == 1.0
    assert found.state_dependence["u"] == 0.0
    assert found.faults() == ()


def test_a_variable_that_never_moves_has_no_terms():
    A, sigma = LINEAR_DRIFT.copy(), LINEAR_NOISE.copy()
    A[3], A[:, 3], sigma[3] = 0.0, 0.0, 0.0

    found = structure_of(linear_model(A, sigma))

    assert not [term for term in found.model.terms if "u" in (term.equation, term.feature.text())]
    assert found.drift_share["u"] == 1.0
    assert found.faults() == ()


def test_a_random_walk_has_no_terms_and_a_steady_drift_has_one():
    model = linear_model(LINEAR_DRIFT, LINEAR_NOISE)
    terms = [term for term in model.terms if term.equation not in ("u", "tau")]
    walks = TermModel([*terms, *drift("tau", {"1": 1e-3})], [noise(name, 0.1) for name in NAMES])

    found = structure_of(walks, years=50)

    assert not [term for term in found.model.terms if term.equation == "u"]
    (steady,) = [term for term in found.model.terms if term.equation == "tau"]
    assert steady.text() == "0.001"
    assert found.faults() == ()


# --- What the library does not reach ------------------------------------------------------


def test_a_drift_outside_the_library_is_not_classified():
    def ripple(state, dt, noise):
        return jnp.zeros(5).at[1].set(dt * jnp.sin(5.0 * state[1]))

    found = structure_of(Altered(linear_model(LINEAR_DRIFT, LINEAR_NOISE), ripple))

    (fault,) = found.faults()
    assert found.drift_share["T_E"] < DRIFT_SHARE
    assert fault == (
        f"The drift of T_E is explained to {found.drift_share['T_E']:.4g} of its variance, "
        "under 0.995: it is not classified."
    )


def test_an_amplitude_outside_the_library_is_not_classified():
    def ripple(state, dt, noise):
        return jnp.zeros(5).at[1].set(jnp.sqrt(dt) * noise[1] * 0.4 * jnp.sin(5.0 * state[1]))

    found = structure_of(Altered(linear_model(LINEAR_DRIFT, LINEAR_NOISE), ripple))

    (fault,) = found.faults()
    assert found.noise_share["T_E"] < NOISE_SHARE
    assert fault.startswith("The amplitude of the noise of T_E is explained to 0.")


def squared(size):
    """A linear model with a noise of `size` in tau besides, which is squared and has no mean."""

    def milstein(state, dt, noise):
        return jnp.zeros(5).at[4].set(size * dt * (noise[4] ** 2 - 1.0))

    return Altered(linear_model(LINEAR_DRIFT, LINEAR_NOISE), milstein)


def test_the_mean_of_a_milstein_step_is_its_drift():
    """Its step without noise would lack as much as the squared noise adds on average."""
    found = structure_of(squared(0.1))
    assert found.faults() == ()
    exact = linear_model(LINEAR_DRIFT, LINEAR_NOISE)
    state, t = jnp.array([0.5, -0.7, 6.0, 0.1, 1.5]), jnp.asarray(3.0)
    per_month = [
        model.drift(state, t) * model.scales / model.time_scale for model in (found.model, exact)
    ]
    np.testing.assert_allclose(*per_month, rtol=1e-6, atol=1e-9)


def test_noise_that_is_far_from_linear_is_not_classified():
    (fault,) = structure_of(squared(3.0)).faults()
    assert fault.startswith("The noise of tau is not linear in its normals to 0.")


def test_correlations_that_vary_are_a_fault():
    def turning(state, dt, noise):
        turned = jnp.sign(state[0]) * noise[1] - noise[2]
        return jnp.zeros(5).at[2].set(LINEAR_NOISE[2] * jnp.sqrt(dt) * turned)

    found = structure_of(Altered(linear_model(LINEAR_DRIFT, LINEAR_NOISE), turning))

    (fault,) = found.faults()
    assert found.correlation_share == pytest.approx(0.0, abs=0.05)
    assert fault.startswith("The correlations between the noises of two equations vary")


def test_a_model_that_breaks_down_has_no_structure(exploding):
    with pytest.raises(ValueError, match="not finite"):
        structure_of(exploding, years=1)


# --- Any model of the library -------------------------------------------------------------

NONLINEAR = (
    "T_C^2",
    "T_C^3",
    "T_C T_E",
    "h_W^2 T_E",
    "T_C T_E h_W",
    "u^2 [u > 0]",
    "T_E [T_E > 0]",
    "T_E^2/(1 + (T_E/0.3)^2)",
)
SIZES = st.sampled_from([-2.0, -0.7, 0.5, 1.5])
FACTORS = st.sampled_from(
    [
        (),
        (Ramp("T_E", 1, 4.0, 0.2),),
        (Ramp("h_W", 2, -20.0, 0.3),),
        (Sigmoid("T_C", 5.0),),
        (Ramp("T_C", 1, -3.0, 0.2), Ramp("h_W", 1, 4.0, 0.3, 1.5)),
    ]
)


@st.composite
def models(draw) -> TermModel:
    """Linear models with some more terms, seasons and factors in them."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    terms = []
    for name in NAMES:
        couplings = dict(zip(NAMES, rng.uniform(-1.0, 1.0, 5).tolist(), strict=True))
        seasonal = {name: {"1": couplings[name], "c1": draw(SIZES), "s2": 0.5}}
        more = draw(st.dictionaries(st.sampled_from(NONLINEAR), SIZES, max_size=2))
        terms += drift(name, couplings | seasonal | more | {"1": 0.01})
    amplitudes = [noise(name, 0.1, {"c1": 0.3}, draw(FACTORS)) for name in NAMES]
    return TermModel(terms, amplitudes, phase=0.5)


@settings(max_examples=8)
@given(model=models())
def test_any_model_of_the_library_is_reproduced_where_it_was_not_seen(model):
    found = find_structure(observed(model))

    state, t = visited(1000, seed=1)
    (f, g), (f_found, g_found) = evaluated(model, state, t), evaluated(found.model, state, t)
    assert found.faults() == ()
    assert np.all((f - f_found).var(axis=0) < 1e-4 * f.var(axis=0))
    assert np.all(((g - g_found) ** 2).mean(axis=0) < 1e-3 * (g**2).mean(axis=0))


# --- The selection ------------------------------------------------------------------------


@pytest.fixture
def table() -> np.ndarray:
    """Six columns of mean square 1, then a target of the first three and a little noise."""
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((500, 6))
    columns[:, 5] += columns[:, 0]
    target = columns[:, :3] @ [1.0, 0.5, -0.5] + 0.1 * rng.standard_normal(500)
    table = np.column_stack([columns, target])
    return table / np.sqrt(np.mean(table**2, axis=0))


def search(table: np.ndarray) -> Search:
    none = np.zeros((6, 6), bool)
    return Search(table.T @ table / len(table), (), np.arange(6), none)


def test_sweeps_are_a_least_squares_fit(table):
    swept = table.T @ table / len(table)
    for column in (0, 3, 5):
        swept = sweep(swept, column)

    solution, (left,), *_ = np.linalg.lstsq(table[:, [0, 3, 5]], table[:, -1])
    np.testing.assert_allclose(swept[[0, 3, 5], -1], solution)
    assert swept[-1, -1] == pytest.approx(left / len(table))


def test_a_second_sweep_undoes_the_first(table):
    moments = table.T @ table / len(table)

    np.testing.assert_allclose(sweep(sweep(moments, 2), 2), moments, atol=1e-12)


def test_the_columns_of_the_target_are_chosen_and_no_others(table):
    everything = search(table).extended((), least=1e-6)

    assert set(search(table).pruned(everything, least=1e-3)) == {0, 1, 2}


def test_a_column_is_exchanged_for_the_one_that_it_stood_for(table):
    assert set(search(table).exchanged((1, 2, 5))) == {0, 1, 2}


# --- Submissions --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "nonlinear"),
    [("s01_class_based", {"T_C", "T_E"}), ("s02_functional_closures", {"T_C", "T_E"})],
)
def test_a_submission_is_taken_apart(shared_submissions, name, nonlinear):
    (folder,) = [folder for folder in shared_submissions if folder.name == name]
    step = examine_submission(read_folder(folder), PROTOCOL, choose(None)).step

    found = structure_of(step)

    assert found.faults() == ()
    terms = [term for term in found.model.terms if not term.feature.linear]
    assert {term.equation for term in terms} == nonlinear
    amplitudes = [part.equation for part in found.model.amplitudes if part.factors]
    assert amplitudes == ["tau"]
