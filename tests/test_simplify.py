"""A model is reduced to the simplest form that keeps its scores, whatever it was handed over as."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from enso_jax.benchmark._setting import FOLDER
from enso_jax.checkpoints import ModelGrader, ThisProcess, open_store, settings_of
from enso_jax.fitting import Refit, sample
from enso_jax.grading import Terms, examine_submission, submission
from enso_jax.models import Step, TermModel, built_in, drift
from enso_jax.observations import nature_run
from enso_jax.protocol import Protocol
from enso_jax.simplify import (
    GroupError,
    SimplifyError,
    _simplify,
    backward,
    only,
    pruned,
    removable_groups,
    simplify,
    with_mean_levels,
    without,
)
from enso_jax.submissions import choose, read_folder

#: A search in miniature: enough to tell reductions apart, in a tenth of the time.
SMALL = Protocol(
    free_run_years=570, free_run_spin_up_years=10, smoother_members=60, forecast_members=20
)
#: The paper's reduction of fable-5.1.
PAPERS = ["nonlinear", "seasonal/T_C/h_W", "seasonal/T_E/h_W", "seasonal/h_W", "seasonal/u"]
FABLE = built_in("fable-5.1").build()


@pytest.fixture(scope="module")
def grader(tmp_path_factory, measured_record):
    return grader_in(tmp_path_factory.mktemp("store"), measured_record)


def grader_in(folder, record, protocol=SMALL, replicates=1):
    terms = Terms.of(record, protocol, 0, replicates)
    settings = settings_of(terms, "the engine of this test")
    return ModelGrader(open_store(folder), terms, settings, ThisProcess(), 8)


def simplified(step, name, search, grader, **options):
    return simplify(step, submission(step, name), search, grader, **options)


def skewed_by_its_drift():
    """Fable with additive noise of the same strength and a strong quadratic term of T_E."""
    noises = frozenset(g for g in removable_groups(FABLE) if g.startswith("multiplicative"))
    samples = sample(FABLE, SMALL, years=300)
    additive = pruned(with_mean_levels(without(FABLE, noises), noises, samples), noises)
    terms = [*additive.terms, *drift("T_E", {"T_E^2": 0.6})]
    return TermModel(terms, additive.amplitudes, phase=0.5, bound=3.0)


# --- Where the search ends ----------------------------------------------------------------


@pytest.mark.slow
def test_fable_ends_as_linear_and_multiplicative_also_from_its_numpy_form(grader):
    of_terms = simplified(FABLE, "terms", backward, grader)
    assert "linear-multiplicative" in of_terms.result.families
    assert of_terms.result.choice.structure == "linear-multiplicative"
    scores = of_terms.result.choice.scores.composite, of_terms.result.submitted.scores.composite
    assert scores[0] >= scores[1]

    examined = examine_submission(read_folder(FOLDER), SMALL, choose(None))
    of_code = simplify(examined.step, examined.about, only(PAPERS), grader)
    assert of_code.result.choice.structure == "linear-multiplicative"
    assert min(of_code.result.found.drift_share.values()) > 0.9999
    like = simplified(FABLE, "terms", only(PAPERS), grader)
    assert linear(of_code.choice.pruned) == pytest.approx(
        linear(like.choice.pruned), rel=0.05, abs=1e-6
    )


def linear(model):
    return {
        (term.equation, term.feature.text(), harmonic): float(value)
        for term in model.terms
        for harmonic, value in zip(term.harmonics, term.coefficients, strict=True)
        if term.group.startswith("linear/")
    }


@pytest.mark.slow
def test_a_model_skewed_by_its_drift_ends_as_nonlinear_and_additive(grader):
    found = simplified(skewed_by_its_drift(), "quadratic", backward, grader).result
    assert set(found.families) == {"nonlinear-additive"}
    assert found.choice.structure == "nonlinear-additive"
    assert found.choice.drift_coefficients < found.submitted.drift_coefficients
    assert found.choice.skewness > 0.4
    # Without any nonlinear drift it could not be skewed, so that was not even tried.
    assert not any(one.structure == "linear-additive" for one in found.reductions)


@pytest.mark.slow
def test_the_papers_reduction_has_the_papers_scores(tmp_path, measured_record):
    grader = grader_in(tmp_path, measured_record, Protocol(), replicates=4)
    found = simplified(FABLE, "fable-5.1", only(PAPERS), grader)
    assert found.result.choice.drift_coefficients == 34
    scores = found.result.choice.scores
    assert scores.statistical == pytest.approx(0.810, abs=0.03)
    assert scores.dynamical == pytest.approx(0.600, abs=0.02)
    assert scores.predictive == pytest.approx(0.297, abs=0.015)
    assert found.result.choice.kept


# --- What comes of it ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def on_nature(tmp_path_factory):
    """The paper's reduction, on the nature run."""
    grader = grader_in(tmp_path_factory.mktemp("nature"), nature_run())
    return grader, simplified(FABLE, "fable-5.1", only(PAPERS), grader)


def test_what_is_said_can_be_read(on_nature):
    _, found = on_nature
    said = json.loads(found.result.to_json())
    assert said["schema_version"] == 1
    assert said["observations"]["kind"] == "simulated"
    assert said["reductions"][1]["dropped"] == list(found.result.choice.dropped)
    assert len(said["reductions"][1]["dropped"]) == 7


def test_the_reduced_model_is_the_same_written_down_without_its_zeros(on_nature):
    _, found = on_nature
    state, t = np.array([0.5, 1.0, -8.0, 0.1, 1.0]), np.asarray(2.0)
    noise = np.random.default_rng(0).standard_normal(5)
    with_zeros, without_them = (
        model(state, t, np.asarray(1 / 30), noise)
        for model in (found.choice.model, found.choice.pruned)
    )
    np.testing.assert_allclose(with_zeros, without_them, rtol=1e-12)


@pytest.mark.slow
def test_a_refit_by_likelihood_starts_from_the_one_by_increments(on_nature):
    grader, by_increments = on_nature
    found = simplified(FABLE, "fable-5.1", only(PAPERS), grader, refit="likelihood")
    assert found.choice.refit == "likelihood"
    assert found.choice.dropped == by_increments.choice.dropped
    before, after = by_increments.choice.model, found.choice.model
    assert jax.tree.structure(before) == jax.tree.structure(after)
    assert not np.allclose(before.terms[0].coefficients, after.terms[0].coefficients, rtol=1e-4)
    # A search's own refit is kept beside it, and both are in what is said.
    assert {one.refit for one in found.result.reductions if one.dropped} == {
        "increments",
        "likelihood",
    }


def test_a_refit_by_statistics_is_given_those_of_the_originals_run(on_nature, monkeypatch):
    """Which takes a minute, and is tested by itself: here it changes one number."""
    grader, by_increments = on_nature
    given = {}

    def statistics(model, targets, *, protocol, seed):
        given["targets"] = targets

        def refit(start, free):
            given["free"] = free
            amplitude = start.amplitudes[0]
            louder = eqx.tree_at(lambda m: m.amplitudes[0].level, start, 1.01 * amplitude.level)
            return Refit(louder, start, {}, True)

        return refit

    monkeypatch.setattr(_simplify, "statistics", statistics)
    found = simplified(FABLE, "fable-5.1", only(PAPERS), grader, refit="statistics")
    monthly = by_increments.original.samples.monthly
    assert given["targets"].statistics.variance[1] == pytest.approx(monthly[:, 1].var(), rel=0.01)
    assert any(np.any(term.coefficients) for term in given["free"].terms)
    assert found.choice.refit == "statistics"
    assert found.choice.model.amplitudes[0].level == pytest.approx(
        1.01 * by_increments.choice.model.amplitudes[0].level
    )


# --- What goes wrong ----------------------------------------------------------------------


def test_interrupted_it_goes_on_where_it_was(tmp_path, on_nature):
    _, whole = on_nature
    grader = grader_in(tmp_path, nature_run())
    counts = {"expected": 0, "done": 0}

    def expected(models):
        counts["expected"] += models

    def done():
        counts["done"] += 1
        if counts["done"] == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simplified(FABLE, "fable-5.1", only(PAPERS), grader, done=done)
    assert counts == {"expected": 0, "done": 1}

    # The original, which is the same in terms, has its result; only the reduction is left.
    again = simplified(FABLE, "fable-5.1", only(PAPERS), grader, expected=expected, done=done)
    assert counts == {"expected": 1, "done": 2}
    assert again.result == whole.result


def test_a_group_that_is_not_there_is_said_before_anything_is_graded(tmp_path):
    grader = grader_in(tmp_path, nature_run())

    def graded():
        raise AssertionError("it was graded")

    with pytest.raises(GroupError, match="no group 'nonliner'"):
        simplified(FABLE, "fable-5.1", only(["nonliner"]), grader, done=graded)


def test_a_model_that_breaks_down_is_said_to(tmp_path, exploding):
    grader = grader_in(tmp_path, nature_run())
    with pytest.raises(SimplifyError, match="does not stay finite in its own free run"):
        simplified(exploding, "exploding", backward, grader)


def test_a_model_that_terms_do_not_reach_is_not_classified(tmp_path):
    class Rippled(Step):
        model: TermModel
        noise_size: int = 5

        def __call__(self, state, t, dt, noise):
            ripple = 0.3 * dt * jnp.sin(3.0 * t)
            return self.model(state, t, dt, noise).at[1].add(ripple)

    step = Rippled(FABLE)
    grader = grader_in(tmp_path, nature_run())
    with pytest.raises(SimplifyError, match=r"The drift of T_E is explained to 0.* not classified"):
        simplified(step, "odd", backward, grader)
