"""Is a reconstruction judged on what was withheld, and on nothing else?"""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from enso_jax.protocol import Protocol
from enso_jax.scores import (
    TESTS,
    assimilated,
    dynamical_score,
    nse,
    observation_error,
    withheld,
)
from enso_jax.state import NAMES, TAU, U

PROTOCOL = Protocol()
RECORD = np.random.default_rng(0).standard_normal((60, 5))


def test_each_test_reconstructs_what_it_does_not_assimilate():
    assert {test: withheld(test) for test in TESTS} == {"A": ("h_W", "u", "tau"), "B": NAMES[:2]}


@pytest.mark.parametrize("test", TESTS)
def test_a_test_sees_what_it_assimilates_and_nan_elsewhere(test):
    seen = assimilated(RECORD, test)

    for column, name in enumerate(NAMES):
        if name in withheld(test):
            assert np.isnan(seen[:, column]).all()
        else:
            np.testing.assert_array_equal(seen[:, column], RECORD[:, column])


def test_observation_error_is_a_share_of_the_deviation_of_what_was_measured():
    values = RECORD.copy()
    values[:24, TAU] = np.nan

    error = observation_error(values, PROTOCOL)

    np.testing.assert_allclose(error[:TAU], 0.4 * RECORD[:, :TAU].std(axis=0, ddof=1))
    assert error[TAU] == pytest.approx(0.4 * RECORD[24:, TAU].std(ddof=1))


# --- The Nash-Sutcliffe efficiency --------------------------------------------------------


def test_the_record_itself_has_an_efficiency_of_one():
    assert nse(RECORD[:, 0], RECORD[:, 0]) == 1.0


@pytest.mark.parametrize("name", ["the mean", "the negative", "far off", "not finite"])
def test_an_estimate_no_better_than_the_mean_has_none(name):
    record = RECORD[:, 0]
    estimates = {
        "the mean": np.full(60, record.mean()),
        "the negative": -record,
        "far off": record + 100.0,
        "not finite": np.where(np.arange(60) == 7, np.nan, record),
    }

    assert nse(estimates[name], record) == pytest.approx(0.0, abs=1e-12)


def test_efficiency_by_hand():
    # Errors 0, 0, 1; departures from the mean -1, 0, 1.
    assert nse(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx(0.5)


def test_months_that_were_not_measured_do_not_count():
    record = np.array([1.0, np.nan, 2.0, 3.0])

    assert nse(np.array([1.0, 1e9, 2.0, 4.0]), record) == pytest.approx(0.5)


@given(hnp.arrays(float, (2, 12), elements=st.floats(-1e6, 1e6)))
def test_any_efficiency_is_between_zero_and_one(pair):
    estimate, record = pair
    assume(np.ptp(record) > 1e-3)

    assert 0.0 <= nse(estimate, record) <= 1.0


# --- The dynamical score ------------------------------------------------------------------


def test_perfect_reconstructions_are_full_marks():
    result = dynamical_score({"A": RECORD, "B": RECORD}, RECORD, PROTOCOL)

    assert result.score == 1.0
    assert list(result.components) == ["A/h_W", "A/u", "A/tau", "B/T_C", "B/T_E"]


def test_climatology_is_worth_nothing():
    climatology = np.broadcast_to(RECORD[24:].mean(axis=0), RECORD.shape)

    result = dynamical_score({"A": climatology, "B": climatology}, RECORD, PROTOCOL)

    assert result.score == pytest.approx(0.0, abs=1e-12)


def test_the_score_is_the_mean_of_the_five():
    smoothed = {"A": RECORD.copy(), "B": RECORD}
    smoothed["A"][24:, U] = RECORD[24:, U].mean()

    result = dynamical_score(smoothed, RECORD, PROTOCOL)

    assert result.components["A/u"] == pytest.approx(0.0, abs=1e-12)
    assert result.score == pytest.approx(0.8)


def test_the_spin_up_is_not_scored():
    wrong = RECORD.copy()
    wrong[:24] = 1e3

    assert dynamical_score({"A": wrong, "B": wrong}, RECORD, PROTOCOL).score == 1.0
    wrong[24] = 1e3
    assert dynamical_score({"A": wrong, "B": wrong}, RECORD, PROTOCOL).score < 1.0


@pytest.mark.parametrize("test", TESTS)
def test_an_estimate_of_what_was_assimilated_is_not_scored(test):
    smoothed = {name: RECORD.copy() for name in TESTS}
    seen = [column for column, name in enumerate(NAMES) if name in TESTS[test]]
    smoothed[test][:, seen] = 1e3

    assert dynamical_score(smoothed, RECORD, PROTOCOL).score == 1.0


def test_what_was_not_measured_is_not_scored():
    record, smoothed = RECORD.copy(), RECORD.copy()
    record[30:40, U] = np.nan
    smoothed[30:40, U] = 1e3

    assert dynamical_score({"A": smoothed, "B": smoothed}, record, PROTOCOL).score == 1.0
