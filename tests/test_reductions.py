"""Which reductions are looked at, kept and chosen? On scores that are made up: nothing is run."""

import dataclasses
import types

import hypothesis.strategies as st
import jax
import numpy as np
import pytest
from graded import invalid, simulated
from hypothesis import given, settings

from enso_jax.fitting import Samples, free_parameters
from enso_jax.grading import submission
from enso_jax.models import built_in
from enso_jax.simplify import (
    Criteria,
    CriteriaError,
    GroupError,
    Original,
    Reducer,
    backward,
    exhaustive,
    groups_of,
    named_groups,
    only,
    pruned,
    removable_groups,
    with_mean_levels,
    without,
)
from enso_jax.simplify._families import chosen, reductions_by_family
from enso_jax.simplify._result import simplification

FABLE = built_in("fable-5.1").build()
ALL = frozenset(removable_groups(FABLE))
NONLINEAR = frozenset(group for group in ALL if group.startswith("nonlinear/"))
MULTIPLICATIVE = frozenset(group for group in ALL if group.startswith("multiplicative/"))
STARTS = (NONLINEAR, MULTIPLICATIVE)
SEASONAL = ALL - NONLINEAR - MULTIPLICATIVE
STATE, T = np.array([0.9, 1.4, -12.0, 0.2, 1.5]), np.asarray(4.3)


# --- Groups -------------------------------------------------------------------------------


def test_the_groups_of_fable_are_those_of_its_equations():
    assert {group.split("/")[0] for group in groups_of(FABLE)} == {
        "constant",
        "linear",
        "seasonal",
        "nonlinear",
        "multiplicative",
    }
    assert len(NONLINEAR) == 3
    assert len(MULTIPLICATIVE) == 4
    assert len(SEASONAL) == 6


@settings(max_examples=10)
@given(st.sets(st.sampled_from(sorted(ALL))))
def test_a_model_without_groups_is_the_one_written_without_them(dropped):
    dropped = frozenset(dropped)
    zeroed = without(FABLE, dropped)
    written = pruned(zeroed, dropped)
    assert jax.tree.structure(zeroed) == jax.tree.structure(FABLE)
    assert not dropped & set(groups_of(written))
    np.testing.assert_allclose(zeroed.drift(STATE, T), written.drift(STATE, T), rtol=1e-13)
    np.testing.assert_allclose(zeroed.diffusion(STATE, T), written.diffusion(STATE, T), rtol=1e-13)


def test_a_noise_without_its_dependence_is_the_same_at_every_state():
    additive = without(FABLE, MULTIPLICATIVE)
    np.testing.assert_array_equal(additive.diffusion(STATE, T), additive.diffusion(0 * STATE, T))
    assert not np.allclose(FABLE.diffusion(STATE, T), FABLE.diffusion(0 * STATE, T))


def test_a_name_stands_for_all_that_begins_with_it():
    assert named_groups(["nonlinear"], FABLE) == NONLINEAR
    assert named_groups(["seasonal/T_E", "nonlinear/h_W"], FABLE) == {
        "seasonal/T_E/h_W",
        "seasonal/T_E/T_E",
        "nonlinear/h_W",
    }


@pytest.mark.parametrize(
    ("name", "hint"), [("nonlinear/TE", "nonlinear/T_E"), ("xyz", "it has linear/T_C")]
)
def test_a_group_that_is_not_there_is_one_sentence(name, hint):
    with pytest.raises(GroupError, match=rf"no group '{name}'.*{hint}"):
        named_groups([name], FABLE)


def test_a_model_with_nothing_to_drop_says_so():
    with pytest.raises(GroupError, match="no groups that could be dropped"):
        removable_groups(pruned(FABLE, ALL))


def test_what_is_dropped_is_held():
    free = free_parameters(without(FABLE, ALL))
    for term in free.terms:
        assert np.any(term.coefficients) == (term.group not in ALL)


def test_a_noise_without_its_dependence_is_as_strong_as_it_was_on_average():
    rng = np.random.default_rng(0)
    count = 60 * 400
    t = np.arange(count) / 5.0
    state = rng.standard_normal((count, 5)) * np.array([0.5, 0.8, 12.0, 0.15, 2.0])
    amplitude = np.asarray(jax.vmap(FABLE.diffusion)(state, t)) * np.asarray(FABLE.scales)
    covariance = np.einsum("ni,ij->nij", amplitude**2 / 2.0, np.eye(5))
    samples = Samples(state, t, state, covariance, np.zeros(5))

    levelled = with_mean_levels(without(FABLE, MULTIPLICATIVE), MULTIPLICATIVE, samples)

    for month in range(12):
        here = np.isclose(t % 12.0, month)
        expected = np.sqrt((amplitude[here] ** 2).mean(axis=0))
        found = levelled.diffusion(0 * STATE, np.asarray(float(month))) * FABLE.scales
        # The floor and ceiling of T_E's dependence make harmonics that its cycle has not.
        np.testing.assert_allclose(found, expected, rtol=0.1)


# --- Criteria -----------------------------------------------------------------------------

GOOD = (0.7, 0.6, 0.3)


def margins(after, skewness=0.5, criteria=None, before=GOOD):
    original = simulated([before], skewness=0.6)
    return (criteria or Criteria()).margins(original, simulated([after], skewness))


def test_the_original_keeps_itself():
    assert min(margins(GOOD, skewness=0.6).values()) >= 0.0


@pytest.mark.parametrize(
    ("after", "short"),
    [
        ((0.7, 0.6, 0.269), {"predictive"}),
        ((0.7, 0.539, 0.3), {"dynamical"}),
        ((0.629, 0.6, 0.3), {"statistical"}),
        ((0.64, 0.55, 0.28), {"composite"}),
        ((0.1, 0.1, 0.1), {"statistical", "dynamical", "predictive", "composite"}),
    ],
)
def test_a_loss_is_what_it_falls_short_of(after, short):
    assert {name for name, margin in margins(after).items() if margin < 0.0} == short


def test_half_the_skewness_has_to_be_left():
    assert margins(GOOD, skewness=0.31)["skewness"] > 0.0
    assert margins(GOOD, skewness=0.29)["skewness"] < 0.0


def test_the_asymmetry_of_a_poor_model_does_not_count():
    assert "skewness" not in margins((0.2, 0.2, 0.1), before=(0.2, 0.2, 0.1))


def test_replicates_are_compared_with_the_same_ones():
    original = simulated([GOOD, (0.1, 0.1, 0.1)], skewness=0.6)
    first = Criteria().margins(original, simulated([GOOD], 0.6))
    assert first["statistical"] == pytest.approx(0.07)


def test_criteria_are_read_from_a_text():
    assert Criteria.of("composite=0.9, skewness=0.3") == Criteria(composite=0.9, skewness=0.3)
    assert Criteria.of("") == Criteria()


@pytest.mark.parametrize("text", ["composite", "composit=0.9", "composite=1.5", "composite=x", "="])
def test_criteria_that_are_none_are_one_sentence(text):
    with pytest.raises(CriteriaError, match="is no criterion: write NAME=SHARE"):
        Criteria.of(text)


# --- Search -------------------------------------------------------------------------------


@dataclasses.dataclass
class Scripted:
    """Grades as a function of which groups a model lacks, and counts what it is asked."""

    score: object
    replicates: int = 2
    asked: list = dataclasses.field(default_factory=list)

    @property
    def terms(self):
        return types.SimpleNamespace(replicates=self.replicates)

    def with_replicates(self, replicates, at_once):
        return dataclasses.replace(self, replicates=replicates)

    def __call__(self, models, expected=None, done=None):
        found = []
        for step, _ in models:
            lost = lost_by(step)
            self.asked.append((lost, self.replicates))
            outcome = self.score(lost)
            found.append(
                invalid()
                if outcome is None
                else simulated([outcome[0]] * self.replicates, outcome[1])
            )
        return found


def lost_by(model):
    terms = {term.group for term in model.terms if not np.any(term.coefficients)}
    noise = {
        amplitude.group
        for amplitude in model.amplitudes
        if amplitude.factors and not any(np.any(factor.slope) for factor in amplitude.factors)
    }
    return frozenset(terms | noise)


def reducer_of(score, replicates=2, criteria=None):
    grader = Scripted(score, replicates)
    samples = Samples(np.zeros((12, 5)), np.arange(12.0), np.zeros((12, 5)), np.ones((12, 5, 5)), 0)
    original = Original(FABLE, submission(FABLE, "fable"), FABLE, samples)

    def unchanged(start, free):
        return types.SimpleNamespace(model=start)

    return Reducer(original, unchanged, grader, criteria or Criteria()), grader


def scores(size):
    return (0.7 * size, 0.6 * size, 0.3 * size)


def relies_on(needed, skewed_by):
    """Loses a third with each needed group, gains a little with each other one."""

    def score(lost):
        size = 1.0 - 0.3 * len(lost & needed) + 0.002 * len(lost - needed)
        return scores(size), 0.6 if skewed_by - lost else 0.05

    return score


def test_a_search_ends_where_nothing_more_can_be_spared():
    needed = frozenset({"multiplicative/T_E", "seasonal/T_E/T_E"})
    reducer, _ = reducer_of(relies_on(needed, MULTIPLICATIVE))
    backward(reducer)
    families = reductions_by_family(reducer.confirmed.values())
    assert set(families) == {"linear-multiplicative"}
    assert families["linear-multiplicative"].dropped == ALL - needed
    assert chosen(reducer.confirmed.values()).dropped == ALL - needed


def test_a_model_that_skews_by_its_drift_ends_in_the_other_family():
    needed = frozenset({"nonlinear/T_E"})
    reducer, _ = reducer_of(relies_on(needed, NONLINEAR))
    backward(reducer)
    families = reductions_by_family(reducer.confirmed.values())
    assert set(families) == {"nonlinear-additive"}
    assert families["nonlinear-additive"].dropped == ALL - needed


def test_a_model_that_can_go_either_way_has_both():
    reducer, _ = reducer_of(relies_on(frozenset(), ALL - SEASONAL))
    backward(reducer)
    families = reductions_by_family(reducer.confirmed.values())
    assert set(families) == {"linear-multiplicative", "nonlinear-additive"}
    for family, one in families.items():
        kinds = {group.split("/")[0] for group in groups_of(one.pruned)}
        assert ("nonlinear" in kinds) == (family == "nonlinear-additive")


def test_no_search_goes_on_until_both_are_lost():
    reducer, grader = reducer_of(lambda lost: (scores(1.0 + 0.001 * len(lost)), 0.6))
    backward(reducer)
    assert not any(lost >= NONLINEAR | MULTIPLICATIVE for lost, _ in grader.asked)


def test_of_a_poor_model_only_the_scores_count():
    def poor(lost):
        return (0.2, 0.2, 0.1), 0.0

    reducer, grader = reducer_of(poor)
    backward(reducer)
    assert any(lost == ALL for lost, _ in grader.asked)
    assert chosen(reducer.confirmed.values()).dropped >= SEASONAL


def test_a_reduction_that_blows_up_is_not_kept_and_says_why():
    def score(lost):
        return None if "nonlinear/T_C" in lost else (scores(1.0 + 0.001 * len(lost)), 0.6)

    reducer, _ = reducer_of(score)
    paths = backward(reducer)
    said = simplification(
        reducer, paths, {}, None, found=None, refit="increments", search="backward"
    )
    (blown,) = [one for one in said.reductions if set(one.dropped) == NONLINEAR]
    assert not blown.kept
    assert blown.verdict == "it is not finite."
    assert not any("nonlinear/T_C" in one.dropped for one in said.reductions if one.kept)


def test_a_start_that_is_not_kept_ends_its_path():
    reducer, _ = reducer_of(relies_on(NONLINEAR, ALL))
    by_start = {path.start: path.reductions for path in backward(reducer)}
    assert len(by_start["all nonlinear drift"]) == 1
    assert len(by_start["nothing"]) > 3


def test_one_replicate_tells_and_all_decide():
    reducer, grader = reducer_of(relies_on(NONLINEAR, ALL), replicates=4)
    backward(reducer)
    counts = [replicates for _, replicates in grader.asked]
    assert counts.count(1) > 0
    # All replicates are for starts and for the few that lead, not for every one looked at.
    assert {replicates for _, replicates in grader.asked} == {1, 4}
    assert counts.count(4) < counts.count(1)
    # What one replicate shows to be far off is left at that.
    hopeless = [lost for lost, _ in grader.asked if lost & NONLINEAR and lost not in STARTS]
    assert hopeless
    assert (hopeless[0], 4) not in grader.asked


def test_nothing_is_confirmed_twice():
    reducer, grader = reducer_of(relies_on(frozenset({"nonlinear/T_E"}), NONLINEAR))
    backward(reducer)
    confirmed = [lost for lost, replicates in grader.asked if replicates == 2]
    assert len(confirmed) - 1 == len(set(confirmed))  # the original as submitted, and in terms


def test_every_subset_finds_what_steps_cannot():
    """Two groups that can only go together: each alone costs the model its scores."""
    pair = frozenset({"seasonal/T_C/h_W", "seasonal/T_C/T_C"})
    few = pruned(FABLE, SEASONAL - pair | {"nonlinear/h_W", "multiplicative/h_W"})

    def score(lost):
        return scores(0.5 if len(lost & pair) == 1 else 1.0 + 0.01 * len(lost & pair)), 0.6

    found = {}
    for search in (backward, exhaustive):
        reducer, _ = reducer_of(score)
        reducer.original = dataclasses.replace(reducer.original, model=few)
        search(reducer)
        found[search] = chosen(reducer.confirmed.values()).dropped
    assert not pair & found[backward]
    assert pair <= found[exhaustive]


def test_every_subset_of_many_groups_is_refused():
    reducer, _ = reducer_of(relies_on(ALL, ALL))
    with pytest.raises(GroupError, match=r"13 groups.*use --search backward"):
        exhaustive(reducer)


def test_one_reduction_by_name():
    reducer, grader = reducer_of(relies_on(frozenset(), ALL))
    (path,) = only(["nonlinear"])(reducer)
    assert [one.dropped for one in path.reductions] == [frozenset(), NONLINEAR]
    assert len(grader.asked) == 3


def test_the_simplest_is_chosen_within_the_error_of_the_best():
    """Not the best one of all: what cannot be told from it and has fewer terms."""

    def score(lost):
        return scores(1.0 + 0.01 * len(lost & {"nonlinear/T_C"})), 0.6

    reducer, _ = reducer_of(score)
    reducer.confirm([frozenset({"nonlinear/T_C"}), NONLINEAR, NONLINEAR | {"seasonal/u/h_W"}])
    assert chosen(reducer.confirmed.values()).dropped == NONLINEAR | {"seasonal/u/h_W"}


def test_what_costs_little_is_dropped_though_the_original_scores_higher():
    def score(lost):
        return scores(1.0 - 0.01 * len(lost)), 0.6

    reducer, _ = reducer_of(score)
    reducer.confirm([frozenset(), frozenset({"seasonal/u/h_W"})])
    assert chosen(reducer.confirmed.values()).dropped == {"seasonal/u/h_W"}


def test_where_nothing_can_be_spared_the_original_is_chosen():
    reducer, _ = reducer_of(relies_on(ALL, ALL))
    backward(reducer)
    assert chosen(reducer.confirmed.values()).dropped == frozenset()


def test_changes_are_paired_and_have_errors():
    reducer, _ = reducer_of(relies_on(frozenset({"nonlinear/T_E"}), ALL))
    paths = only(["nonlinear"])(reducer)
    said = simplification(
        reducer, paths, {}, None, found=None, refit="increments", search="as asked"
    )
    assert said.reductions[1].changes.statistical == pytest.approx(0.7 * (-0.3 + 0.004))
    assert said.reductions[1].change_errors.statistical == pytest.approx(0.0, abs=1e-12)
    assert "composite" in said.reductions[1].verdict
