"""The simulated record is a sound record, and passes for a nature."""

import numpy as np
import pytest

from enso_jax.events import count_events
from enso_jax.observations import nature_run, read_record, write_record
from enso_jax.protocol import Protocol


def test_it_has_the_periods_of_the_measured_record():
    record = nature_run()
    assert (record.long.labels[0], record.long.labels[-1]) == ("1950-01", "2019-12")
    assert (record.development.labels[0], record.development.labels[-1]) == ("1980-01", "2014-12")
    assert (record.held_out.labels[0], record.held_out.labels[-1]) == ("2015-01", "2024-12")


def test_its_periods_are_cut_from_one_run():
    record = nature_run()
    np.testing.assert_array_equal(record.long.values[360:780], record.development.values[:, :2])
    np.testing.assert_array_equal(record.long.values[780:], record.held_out.values[:60, :2])


def test_it_says_that_it_is_simulated():
    assert nature_run().simulated
    assert nature_run().stand_ins == 0


def test_its_profile_gives_back_the_indices_as_box_means():
    profile = nature_run().profile
    east = (profile.longitude > 210) & (profile.longitude < 270)
    central = (profile.longitude > 160) & (profile.longitude < 210)
    sst = profile(np.array([0.7]), np.array([-1.3]))[0]
    assert sst[east].mean() == pytest.approx(-1.3)
    assert sst[central].mean() == pytest.approx(0.7)


def test_its_strong_events_peak_in_the_east():
    profile = nature_run().profile
    strong = profile.longitude[profile(np.array([0.8]), np.array([3.0]))[0].argmax()]
    modest = profile.longitude[profile(np.array([1.0]), np.array([0.3]))[0].argmax()]
    assert modest < 210 < strong


def test_its_counts_are_those_of_its_own_winters():
    record = nature_run()
    anomalies = record.long.values - record.long.values.mean(axis=0)
    counts = count_events(anomalies, Protocol())
    assert dict(record.event_counts) == {name: int(count) for name, count in counts.items()}
    assert min(record.event_counts.values()) >= 1


def test_it_resembles_the_observed_climate():
    # Standard deviations observed: T_C .63, T_E .86, h_W 13.2, u .133, tau 2.74. Of 35 years the
    # sampling error of a standard deviation is some 15%; the model's own u is lower by a quarter.
    spread = nature_run().development.values.std(axis=0)
    np.testing.assert_allclose(spread, [0.63, 0.86, 13.2, 0.115, 2.74], rtol=0.3)


def test_it_passes_the_loaders_checks(tmp_path):
    record = nature_run()
    write_record(record, tmp_path / "nature")
    again = read_record(tmp_path / "nature")
    np.testing.assert_array_equal(again.held_out.values, record.held_out.values)
    assert again.simulated
