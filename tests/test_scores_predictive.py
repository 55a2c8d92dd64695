"""Is a forecast compared with persistence, fairly and on the right months?"""

import dataclasses

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from enso_jax.protocol import Protocol
from enso_jax.scores import INDICES, forecast_starts, predictive_score

PROTOCOL = Protocol()
LEADS = np.arange(1, 13)


def targets(held_out: np.ndarray) -> np.ndarray:
    """What is to be forecast, ``(start, lead, index)``."""
    starts = np.arange(len(held_out) - 12)
    return held_out[starts[:, None] + LEADS]


def persistence(held_out: np.ndarray) -> np.ndarray:
    return np.repeat(held_out[:-12, None], 12, axis=1)


@pytest.fixture(scope="module")
def held_out() -> np.ndarray:
    """Ten years of a noisy oscillation of three years, ``(month, [T_C, T_E])``."""
    rng = np.random.default_rng(0)
    angle = 2 * np.pi * np.arange(120) / 36
    signal = np.stack([np.cos(angle), 1.3 * np.sin(angle)], axis=-1)
    return signal + 0.2 * rng.standard_normal((120, 2))


def rms(error: np.ndarray) -> float:
    return float(np.sqrt(np.mean(error**2)))


def test_every_start_has_all_its_leads_within_the_record():
    assert forecast_starts(120, PROTOCOL) == 108  # 2015-01 to 2023-12 of ten years


def test_perfect_forecasts_are_full_marks(held_out):
    result = predictive_score(targets(held_out), held_out, PROTOCOL)

    assert result.score == 1.0
    assert result.components == dict.fromkeys(
        ["all/T_C", "extreme/T_C", "all/T_E", "extreme/T_E"], 1.0
    )


def test_persistence_is_worth_nothing(held_out):
    assert predictive_score(persistence(held_out), held_out, PROTOCOL).score == 0.0


def test_worse_than_persistence_is_worth_nothing_and_not_less(held_out):
    assert predictive_score(persistence(held_out) + 9.0, held_out, PROTOCOL).score == 0.0


def test_half_the_error_of_persistence_is_half_marks(held_out):
    between = 0.5 * (targets(held_out) + persistence(held_out))

    result = predictive_score(between, held_out, PROTOCOL)

    assert result.score == pytest.approx(0.5)
    assert list(result.components.values()) == pytest.approx([0.5] * 4)


def test_the_score_by_its_definition(held_out):
    """Equations 8 and 9, written as loops."""
    mean = targets(held_out) + np.random.default_rng(1).normal(0.0, 0.3, (108, 12, 2))

    result = predictive_score(mean, held_out, PROTOCOL)

    everywhere, extreme = [], []
    for index in range(2):
        series, forecast = held_out[:, index], mean[..., index]
        sums, pools = np.zeros(2), ([], [])
        for lead in LEADS:
            target = series[lead : 108 + lead]
            errors = forecast[:, lead - 1] - target, series[:108] - target
            for which, error in enumerate(errors):
                sums[which] += rms(error)
                pools[which].extend(error[np.abs(target) > series.std(ddof=1)])
        everywhere.append(1 - sums[0] / sums[1])
        extreme.append(1 - rms(np.array(pools[0])) / rms(np.array(pools[1])))
    assert [result.components[f"all/{name}"] for name in INDICES] == pytest.approx(everywhere)
    assert [result.components[f"extreme/{name}"] for name in INDICES] == pytest.approx(extreme)
    assert result.score == pytest.approx(0.7 * np.mean(everywhere) + 0.3 * np.mean(extreme))


def test_too_few_extremes_make_no_skill(held_out):
    protocol = dataclasses.replace(PROTOCOL, extreme_pool_minimum=10_000)

    result = predictive_score(targets(held_out), held_out, protocol)

    assert result.components["extreme/T_E"] == 0.0
    assert result.score == pytest.approx(0.7)


def test_the_curves_against_lead_are_those_of_the_errors(held_out):
    noise = np.random.default_rng(2).normal(0.0, 0.3, (108, 12, 2))
    mean = targets(held_out) + noise

    by_lead = predictive_score(mean, held_out, PROTOCOL).by_lead

    for index, name in enumerate(INDICES):
        for lead in range(12):
            forecast, target = mean[:, lead, index], targets(held_out)[:, lead, index]
            assert by_lead[f"rmse/{name}"][lead] == pytest.approx(rms(noise[:, lead, index]))
            correlation = np.corrcoef(forecast, target)[0, 1]
            assert by_lead[f"correlation/{name}"][lead] == pytest.approx(correlation)


def test_a_forecast_that_does_not_vary_has_no_correlation(held_out):
    by_lead = predictive_score(np.zeros((108, 12, 2)), held_out, PROTOCOL).by_lead

    assert np.isnan(by_lead["correlation/T_E"]).all()
    assert np.isfinite(by_lead["persistence_correlation/T_E"]).all()


# --- What was not measured, or not forecast -----------------------------------------------


def test_starts_without_a_forecast_do_not_count_for_persistence_either(held_out):
    mean = targets(held_out) + np.random.default_rng(3).normal(0.0, 0.3, (108, 12, 2))
    mean[48:] = np.nan

    result = predictive_score(mean, held_out, PROTOCOL)

    observed, reference = targets(held_out)[:48], persistence(held_out)[:48]
    for index, name in enumerate(INDICES):
        model = [rms((mean[:48] - observed)[:, lead, index]) for lead in range(12)]
        kept = [rms((reference - observed)[:, lead, index]) for lead in range(12)]
        np.testing.assert_allclose(result.by_lead[f"rmse/{name}"], model)
        np.testing.assert_allclose(result.by_lead[f"persistence_rmse/{name}"], kept)
        assert result.components[f"all/{name}"] == pytest.approx(1 - sum(model) / sum(kept))


def test_targets_that_were_not_measured_do_not_count(held_out):
    mean = targets(held_out) + 0.1
    holed = held_out.copy()
    holed[60, 1] = np.nan
    mean[60] = np.nan  # its start is incomplete
    spoiled = mean.copy()
    for lead in LEADS:
        spoiled[60 - lead, lead - 1, 1] = 1e6

    one, other = (predictive_score(forecast, holed, PROTOCOL) for forecast in (mean, spoiled))

    assert one.score == other.score
    np.testing.assert_allclose(one.by_lead["rmse/T_E"], 0.1)


def test_no_forecast_at_all_is_refused_and_not_scored(held_out):
    with pytest.raises(ValueError, match="no forecast of T_C"):
        predictive_score(np.full((108, 12, 2), np.nan), held_out, PROTOCOL)


@given(seed=st.integers(0, 2**32 - 1), size=st.floats(0.0, 1e3))
def test_any_forecast_scores_between_zero_and_one(held_out, seed, size):
    error = size * np.random.default_rng(seed).standard_normal((108, 12, 2))

    result = predictive_score(targets(held_out) + error, held_out, PROTOCOL)

    assert 0.0 <= result.score <= 1.0
    assert all(0.0 <= value <= 1.0 for value in result.components.values())


# --- The measured record ------------------------------------------------------------------


def test_measured_persistence_has_the_published_correlations(measured_record):
    """T_E of the long record, from every month of 1980 to 2014."""
    thirty_six_years = measured_record.long.values[12 * 30 : 12 * 66]
    mean = np.zeros((12 * 35, 12, 2))

    by_lead = predictive_score(mean, thirty_six_years, PROTOCOL).by_lead

    published = [0.94, 0.85, 0.73, 0.62, 0.50, 0.38, 0.26, 0.16, 0.07, 0.00, -0.04, -0.07]
    np.testing.assert_allclose(by_lead["persistence_correlation/T_E"], published, atol=0.006)


def test_measured_only_forecasts_start_from_the_fully_measured_months_alone(measured_record):
    held_out = measured_record.held_out.measured_only().values
    complete = np.isfinite(held_out).all(axis=1)
    assert np.flatnonzero(complete).tolist() == list(range(48))  # 2015-01 to 2018-12

    mean = np.where(complete[:108, None, None], targets(held_out[:, :2]) + 0.1, np.nan)
    result = predictive_score(mean, held_out[:, :2], PROTOCOL)

    reference = persistence(held_out[:, :2])[:48] - targets(held_out[:, :2])[:48]
    for index, name in enumerate(INDICES):
        np.testing.assert_allclose(result.by_lead[f"rmse/{name}"], 0.1)
        kept = [rms(reference[:, lead, index]) for lead in range(12)]
        np.testing.assert_allclose(result.by_lead[f"persistence_rmse/{name}"], kept)
