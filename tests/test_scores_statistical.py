"""Are the statistics the textbook ones, the observed ones right, and their scores fair?"""

import dataclasses
import itertools

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.stats
from hypothesis import given

from enso_jax.events import count_events, el_nino, winters
from enso_jax.protocol import EVENT_TYPES, Protocol
from enso_jax.scores import (
    acf,
    composite_score,
    curve_score,
    event_points,
    event_scores,
    observed_climate,
    order_score,
    pdf,
    pdf_grid,
    pdf_weights,
    region_score,
    seasonal_variance,
    simulated_climate,
    skewness,
    statistical_score,
)

PROTOCOL = Protocol()
TOLERANCE = PROTOCOL.curve_tolerance

#: Numbers of any sensible size.
numbers = st.floats(-1e6, 1e6)


# --- Curves -------------------------------------------------------------------------------


def test_a_pdf_is_scipys_and_integrates_to_one():
    rng = np.random.default_rng(0)
    series = rng.gamma(4.0, 0.3, (2, 500)) - 1.2
    grid = pdf_grid(PROTOCOL)

    density = pdf(series, grid)

    for values, curve in zip(series, density, strict=True):
        np.testing.assert_allclose(curve, scipy.stats.gaussian_kde(values)(grid), atol=1e-13)
    np.testing.assert_allclose(np.trapezoid(density, grid), 1.0, atol=1e-4)


def test_the_grid_of_a_pdf_is_symmetric_with_161_points():
    grid = pdf_grid(PROTOCOL)

    np.testing.assert_allclose(grid, -grid[::-1])
    assert (grid[0], grid[-1], grid.size) == (-4.0, 4.0, 161)


def test_a_constant_series_has_no_density_and_no_autocorrelation():
    still = np.zeros((1, 240))

    assert not pdf(still, pdf_grid(PROTOCOL)).any()
    assert not acf(still, 60).any()


def test_seasonal_variance_is_the_unbiased_variance_of_each_calendar_month():
    series = np.random.default_rng(1).standard_normal(360)

    by_month = [np.var(series[month::12], ddof=1) for month in range(12)]

    np.testing.assert_allclose(seasonal_variance(series), by_month)


def test_skewness_is_scipys_and_that_of_a_constant_is_zero():
    series = np.random.default_rng(3).gamma(2.0, size=(3, 600))
    np.testing.assert_allclose(skewness(series), scipy.stats.skew(series, axis=-1))
    assert skewness(np.full((2, 24), 3.0)).tolist() == [0.0, 0.0]


def test_an_acf_is_its_definition():
    series = np.random.default_rng(2).standard_normal(300).cumsum()
    x = series - np.mean(series)

    by_hand = [sum(x[t] * x[t + lag] for t in range(300 - lag)) / sum(x * x) for lag in range(61)]

    np.testing.assert_allclose(acf(series, 60), by_hand, atol=1e-12)


@given(hnp.arrays(float, 48, elements=numbers))
def test_an_acf_begins_at_one_and_stays_within_it(series):
    values = acf(series, 24)

    assert np.abs(values).max() <= 1.0 + 1e-9
    assert values[0] == pytest.approx(1.0) or not values.any()


def test_statistics_of_a_batch_are_those_of_its_members():
    batch = np.random.default_rng(3).standard_normal((3, 2, 120))

    for function in (seasonal_variance, lambda x: acf(x, 24), lambda x: pdf(x, np.arange(3.0))):
        one_by_one = [[function(series) for series in pair] for pair in batch]
        np.testing.assert_allclose(function(batch), one_by_one, atol=1e-14)


# --- The score of a curve -----------------------------------------------------------------

CURVE = np.array([1.0, 0.6, 0.4, 0.4, 0.5, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2, 1.3])


def test_the_observed_curve_itself_is_full_marks():
    assert curve_score(CURVE, CURVE, TOLERANCE) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize(
    "worst",
    [-CURVE, np.full(12, 0.7), np.where(CURVE > 1.2, np.nan, CURVE), np.full(12, np.inf)],
    ids=["negated", "constant", "a NaN in it", "infinite"],
)
def test_a_curve_of_no_such_shape_is_worth_nothing(worst):
    assert curve_score(worst, CURVE, TOLERANCE) == pytest.approx(0.0, abs=1e-15)


def test_a_shifted_curve_loses_by_its_departure_alone():
    """The correlation is 1; every point departs by one tolerance, exp(-1/2)."""
    shifted = CURVE + TOLERANCE * np.ptp(CURVE)

    assert curve_score(shifted, CURVE, TOLERANCE) == pytest.approx(np.exp(-0.5))


def test_a_point_without_weight_has_no_say_in_the_size():
    weights = np.array([1.0, 1.0, 1.0, 0.0])
    observed, simulated = np.array([0.0, 1.0, 2.0, 0.5]), np.array([0.0, 1.0, 2.0, 1.5])

    correlation = np.corrcoef(observed, simulated)[0, 1]

    assert curve_score(simulated, observed, TOLERANCE, weights) == pytest.approx(correlation)


def test_a_density_weighs_by_the_mean_of_both():
    np.testing.assert_array_equal(
        pdf_weights(np.array([0.0, 0.2, 0.6]), np.array([0.4, 0.0, 0.2])), [0.2, 0.1, 0.4]
    )


@given(hnp.arrays(float, 12, elements=numbers))
def test_the_score_of_any_curve_is_between_zero_and_one(simulated):
    assert 0.0 <= curve_score(simulated, CURVE, TOLERANCE) <= 1.0


# --- Winters and events -------------------------------------------------------------------


def from_winters(central, eastern) -> np.ndarray:
    """A record ``(month, [T_C, T_E])`` with these winter means, and 0 in all other months."""
    values = np.zeros((len(central) + 1, 12, 2))
    for column, means in enumerate((central, eastern)):
        values[:-1, 11, column] = means
        values[1:, :2, column] = np.asarray(means)[:, None]
    return values.reshape(-1, 2)


def test_a_winter_is_december_with_the_two_months_after_it():
    monthly = np.arange(36.0)[:, None]  # the value is the month's number

    np.testing.assert_array_equal(winters(monthly)[:, 0], [12.0, 24.0])  # of 11 12 13, 23 24 25


def test_the_last_december_has_no_winter():
    monthly = np.zeros((24, 2))
    monthly[23] = 9.0

    np.testing.assert_array_equal(winters(monthly), [[0.0, 0.0]])


def test_each_winter_is_counted_as_what_it_is():
    central = [0.6, 0.2, 0.7, 0.6, 0.5, -0.6, 0.0, 0.2, 0.2]
    eastern = [0.2, 0.6, 0.7, -0.9, 0.5, 0.0, -0.6, 2.5, 2.4]
    #          CP   EP   tie  CP    none LN   LN    EX   EP

    counts = count_events(from_winters(central, eastern), PROTOCOL)

    # A tie is central; a winter that is warm in one index is no La Nina, cold as the other
    # may be; 0.5 does not exceed the threshold, while 2.5 reaches its own.
    expected = {"EN": 6, "EP": 3, "CP": 3, "EX": 1, "LN": 2, "MYEN": 2, "MYLN": 1}
    assert counts == expected
    assert tuple(counts) == EVENT_TYPES


def test_a_run_of_winters_is_one_multi_year_event_however_long():
    warm = np.array([1, 1, 0, 1, 1, 1, 0, 1, 0, -1, -1, -1, 0, -1, 1, -1, -1])

    counts = count_events(from_winters(0 * warm, warm), PROTOCOL)

    assert counts["MYEN"] == 2
    assert counts["MYLN"] == 2


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=30))
def test_multi_year_events_are_the_runs_of_two_or_more(eastern):
    counts = count_events(from_winters([0.0] * len(eastern), eastern), PROTOCOL)

    runs = [(sign, len(list(run))) for sign, run in itertools.groupby(eastern)]
    assert counts["MYEN"] == sum(sign > 0 and length > 1 for sign, length in runs)
    assert counts["MYLN"] == sum(sign < 0 and length > 1 for sign, length in runs)


@given(hnp.arrays(float, (3, 60, 2), elements=st.floats(-4, 4)))
def test_event_types_add_up(segments):
    counts = count_events(segments, PROTOCOL)

    np.testing.assert_array_equal(counts["EP"] + counts["CP"], counts["EN"])
    assert (counts["EN"] + counts["LN"] <= 4).all()
    assert (counts["EX"] <= counts["EP"] + counts["CP"]).all()
    assert (2 * counts["MYEN"] <= counts["EN"]).all()
    assert all(count.shape == (3,) for count in counts.values())


def test_the_observed_counts_are_full_marks_and_a_fifth_off_is_exp_minus_a_half():
    observed = {"EN": 20, "LN": 10, "EX": 0}

    scores = event_scores({"EN": 20.0, "LN": 12.0, "EX": 0.0}, observed, 0.2)

    assert scores == pytest.approx({"EN": 1.0, "LN": np.exp(-0.5), "EX": 1.0})


def test_a_count_far_off_is_worth_nothing():
    assert event_scores({"EN": 100.0}, {"EN": 20}, 0.2)["EN"] == pytest.approx(0.0, abs=1e-12)


# --- Diversity ----------------------------------------------------------------------------


def profile_with_one_peak(T_C, T_E):
    """A warm spot of strength T_C + T_E, 10 degrees east of 200E for each degree of T_E."""
    peak = 200.0 + 10.0 * T_E[..., None]
    return (T_C + T_E)[..., None] * np.exp(-(((LONGITUDE - peak) / 20.0) ** 2))


LONGITUDE = np.arange(100.0, 300.0)


def test_an_event_lies_at_the_maximum_of_its_profile():
    winter = np.array([[0.2, 1.0], [0.0, 0.0], [1.0, 3.0]])

    points = event_points(winter, profile_with_one_peak, LONGITUDE, PROTOCOL)

    np.testing.assert_allclose(points, [[1.2, 210.0], [4.0, 230.0]])


def test_a_peak_outside_the_ocean_is_not_looked_for():
    winter = np.array([[0.0, 9.0]])  # its peak is at 290E, beyond 280E

    points = event_points(winter, profile_with_one_peak, LONGITUDE, PROTOCOL)

    assert points[0, 1] == 280.0


@pytest.mark.parametrize(("excess", "score"), [(-0.3, 0.0), (0.2, 0.4), (0.5, 1.0), (2.0, 1.0)])
def test_order_is_the_excess_of_eastern_strength_up_to_half_a_degree(excess, score):
    points = np.array([[1.0 + excess, 250.0], [1.2 + excess, 230.0], [1.0, 180.0], [1.2, 210.0]])

    assert order_score(points, PROTOCOL) == pytest.approx(score)


@pytest.mark.parametrize("longitude", [180.0, 250.0])
def test_events_all_on_one_side_have_no_order(longitude):
    points = np.array([[1.0, longitude], [3.0, longitude]])

    assert order_score(points, PROTOCOL) == 0.0
    assert order_score(points[:0], PROTOCOL) == 0.0


def cloud(seed: int = 0) -> np.ndarray:
    """Simulated points around 1.2 degC and 220E."""
    return np.random.default_rng(seed).normal([1.2, 220.0], [0.4, 25.0], (2000, 2))


def test_observed_events_amid_the_simulated_ones_are_full_marks():
    assert region_score(cloud(), np.array([[1.2, 220.0], [1.3, 225.0]]), 0.95) == 1.0


def test_observed_events_far_from_the_simulated_ones_are_worth_nothing():
    assert region_score(cloud(), np.array([[9.0, 220.0], [1.2, 100.0]]), 0.95) == 0.0


def test_other_events_of_the_same_kind_lie_in_the_region_as_often_as_it_says():
    score = region_score(cloud(0), cloud(1), 0.95)

    # 2000 events: sqrt(.95 .05 / 2000) = 0.5%, twice over since the region is estimated too.
    assert score == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("few", [0, 1, 2], ids="{} events".format)
def test_events_too_few_for_a_density_are_worth_nothing(few):
    assert region_score(cloud()[:few], cloud(), 0.95) == 0.0


def test_events_all_alike_are_worth_nothing():
    assert region_score(np.ones((50, 2)), cloud(), 0.95) == 0.0


# --- The statistical score ----------------------------------------------------------------


def test_a_climate_compared_with_itself_is_full_marks_but_for_its_own_outliers(small_record):
    observed = observed_climate(small_record, PROTOCOL)

    result = statistical_score(observed, observed, PROTOCOL)

    assert set(result.groups) == {"pdf", "seasonal_variance", "acf", "events", "diversity"}
    for group in ("pdf", "seasonal_variance", "acf", "events"):
        assert result.groups[group] == pytest.approx(1.0)
    # One event in twenty lies outside the region that holds 95% of them.
    outside = 1.0 - result.components["diversity/region"]
    assert 0.0 <= outside <= 0.05 + 1.0 / len(observed.points)


def test_the_score_is_half_the_mean_and_half_the_least_of_the_groups(small_record):
    protocol = dataclasses.replace(PROTOCOL, segment_years=5, event_segment_years=10)
    observed = observed_climate(small_record, protocol)
    simulated = simulated_climate(0.8 * small_record.long.values, small_record, protocol)

    result = statistical_score(simulated, observed, protocol)

    groups = list(result.groups.values())
    assert result.score == pytest.approx(0.5 * np.mean(groups) + 0.5 * min(groups))
    for group, value in result.groups.items():
        parts = [v for name, v in result.components.items() if name.startswith(f"{group}/")]
        assert value == pytest.approx(np.mean(parts))
    assert len(result.components) == 3 * 2 + 7 + 2


def test_a_simulation_is_cut_into_whole_segments(small_record):
    protocol = dataclasses.replace(PROTOCOL, segment_years=6, event_segment_years=7)

    climate = simulated_climate(small_record.long.values, small_record, protocol)

    assert climate.curves["pdf"].shape == (3, 2, 161)
    assert climate.curves["seasonal_variance"].shape == (3, 2, 12)
    assert climate.curves["acf"].shape == (3, 2, 61)
    assert all(count.shape == (2,) for count in climate.counts.values())


def test_the_simulated_record_itself_has_the_observed_curves(small_record):
    protocol = dataclasses.replace(PROTOCOL, segment_years=20, event_segment_years=20)
    values = small_record.long.values

    simulated = simulated_climate(values - values.mean(axis=0), small_record, protocol)

    observed = observed_climate(small_record, protocol)
    for name, curve in observed.curves.items():
        np.testing.assert_allclose(simulated.curves[name], curve, atol=1e-12)
    np.testing.assert_allclose(simulated.points, observed.points, atol=1e-12)


def test_observed_statistics_are_those_of_anomalies(small_record):
    moved = dataclasses.replace(
        small_record,
        long=dataclasses.replace(small_record.long, values=small_record.long.values + 7.0),
    )

    one, other = (observed_climate(record, PROTOCOL) for record in (small_record, moved))

    for name in one.curves:
        np.testing.assert_allclose(one.curves[name], other.curves[name], atol=1e-10)
    np.testing.assert_allclose(one.points, other.points, atol=1e-10)


def test_peaks_found_in_the_field_take_the_place_of_those_from_the_profile(small_record):
    peaks = np.array([[1.0, 200.0], [2.0, 250.0]])

    climate = observed_climate(dataclasses.replace(small_record, peaks=peaks), PROTOCOL)

    np.testing.assert_array_equal(climate.points, peaks)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_climate_of_nothing_is_scored_without_complaint(small_record, value):
    protocol = dataclasses.replace(PROTOCOL, segment_years=5, event_segment_years=10)
    observed = observed_climate(small_record, protocol)

    result = statistical_score(
        simulated_climate(np.full((240, 2), value), small_record, protocol), observed, protocol
    )

    # What is left are the event types of which none is as far from four as five tolerances.
    assert 0.0 <= result.score < 0.01


@given(seed=st.integers(0, 2**32 - 1), size=st.floats(0.01, 20.0))
def test_any_simulation_scores_between_zero_and_one(small_record, seed, size):
    protocol = dataclasses.replace(PROTOCOL, segment_years=5, event_segment_years=10)
    observed = observed_climate(small_record, protocol)
    monthly = size * np.random.default_rng(seed).standard_normal((240, 2))

    result = statistical_score(
        simulated_climate(monthly, small_record, protocol), observed, protocol
    )

    for value in (result.score, *result.groups.values(), *result.components.values()):
        assert 0.0 <= value <= 1.0 + 1e-12


# --- The composite ------------------------------------------------------------------------


def test_the_composite_weighs_prediction_most():
    assert composite_score(1.0, 0.0, 0.0, PROTOCOL) == pytest.approx(0.3)
    assert composite_score(0.0, 1.0, 0.0, PROTOCOL) == pytest.approx(0.3)
    assert composite_score(0.0, 0.0, 1.0, PROTOCOL) == pytest.approx(0.4)
    assert composite_score(1.0, 1.0, 1.0, PROTOCOL) == pytest.approx(1.0)


# --- The measured record ------------------------------------------------------------------

#: Check values, January to December, of each series with its own mean removed.
SEASONAL_VARIANCE = {
    "T_C": [0.581, 0.494, 0.373, 0.257, 0.227, 0.225, 0.253, 0.292, 0.364, 0.501, 0.603, 0.605],
    "T_E": [1.038, 0.609, 0.407, 0.363, 0.505, 0.538, 0.603, 0.697, 0.772, 0.990, 1.232, 1.299],
}
LAGS = [1, 3, 6, 9, 12, 18, 24, 36]
ACF = {
    "T_C": [0.950, 0.809, 0.544, 0.315, 0.147, -0.076, -0.106, 0.022],
    "T_E": [0.936, 0.727, 0.363, 0.042, -0.112, -0.180, -0.247, 0.006],
}
EASTERN = [1951, 1957, 1963, 1965, 1969, 1972, 1976, 1982, 1986, 1991, 1997, 2002, 2015, 2018]
CENTRAL = [1968, 1977, 1979, 1987, 1990, 1994, 2004, 2006, 2009, 2014]
FIRST_YEAR = 1950
#: Half a unit of the last printed digit, and what printing may have rounded.
PRINTED = 0.0006


@pytest.fixture(scope="module")
def anomalies(measured_record) -> np.ndarray:
    return measured_record.long.values - measured_record.long.values.mean(axis=0)


@pytest.fixture(scope="module")
def measured_climate(measured_record):
    return observed_climate(measured_record, PROTOCOL)


@pytest.mark.parametrize(("column", "name"), list(enumerate(ACF)))
def test_measured_seasonal_variance_and_acf_are_the_published_ones(measured_climate, column, name):
    variance = measured_climate.curves["seasonal_variance"][0, column]
    correlation = measured_climate.curves["acf"][0, column]

    np.testing.assert_allclose(variance, SEASONAL_VARIANCE[name], atol=PRINTED)
    np.testing.assert_allclose(correlation[LAGS], ACF[name], atol=PRINTED)


def test_measured_events_are_the_published_ones(anomalies):
    counts = count_events(anomalies, PROTOCOL)

    published = {"EN": 24, "EP": 14, "CP": 10, "MYEN": 5, "MYLN": 8}
    assert {name: counts[name] for name in published} == published


def test_measured_el_nino_winters_are_the_listed_ones(anomalies):
    winter = winters(anomalies)
    warm = el_nino(winter, PROTOCOL)
    years = FIRST_YEAR + np.flatnonzero(warm)
    eastern = winter[warm, 1] > winter[warm, 0]

    assert years[eastern].tolist() == EASTERN
    assert years[~eastern].tolist() == CENTRAL


def test_measured_peaks_lie_where_the_profile_regression_puts_them(measured_record, anomalies):
    winter = winters(anomalies)
    profile = measured_record.profile

    points = event_points(winter, profile, profile.longitude, PROTOCOL)

    eastern = points[:, 1] > 210.0
    assert (eastern.sum(), len(points)) == (11, 24)
    assert points[eastern, 0].mean() == pytest.approx(1.61, abs=0.006)
    assert points[~eastern, 0].mean() == pytest.approx(0.98, abs=0.006)
    years = FIRST_YEAR + np.flatnonzero(el_nino(winter, PROTOCOL))
    largest = np.argsort(points[:, 0])[:-5:-1]
    assert years[largest].tolist() == [1997, 1982, 2015, 1972]
    np.testing.assert_array_equal(points[largest, 1], [252.5, 253.5, 247.5, 248.5])
    np.testing.assert_allclose(points[largest, 0], [3.39, 3.28, 2.63, 1.83], atol=0.006)


def test_the_measured_climate_compared_with_itself_is_full_marks(measured_climate):
    result = statistical_score(measured_climate, measured_climate, PROTOCOL)

    assert [result.groups[g] for g in ("pdf", "seasonal_variance", "acf", "events")] == (
        pytest.approx([1.0] * 4)
    )
    assert result.components["diversity/order"] == 1.0  # 1.61 - 0.98 is more than half a degree
    assert result.components["diversity/region"] >= 22 / 24  # 95% of 24 is 22.8
