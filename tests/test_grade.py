"""Grading as a whole: replicates, outcomes, missing values, and the result's own rules."""

import dataclasses
import json

import jax
import numpy as np
import pytest
import scipy.stats
import xarray as xr

from enso_jax import grading
from enso_jax.experiments import PrecisionError
from enso_jax.grading import GradeResult, read_result, step_digest, submission
from enso_jax.models import built_in
from enso_jax.observations import ObservationError, nature_run
from enso_jax.protocol import Protocol

QUICK = Protocol(
    free_run_years=160,
    free_run_spin_up_years=10,
    smoother_members=40,
    forecast_members=10,
)


def grade(step, record, **options) -> grading.Grade:
    about = submission(step, "a model")
    return grading.grade(step, about, record, options.pop("protocol", QUICK), **options)


@pytest.fixture(scope="module")
def model():
    return built_in("fable-5.1").build()


@pytest.fixture(scope="module")
def one(model) -> grading.Grade:
    return grade(model, nature_run())


@pytest.fixture(scope="module")
def three(model) -> grading.Grade:
    return grade(model, nature_run(), replicates=3)


def test_the_first_of_several_replicates_is_the_single_one(one, three):
    for name in ("free_run_T_E", "smoothed_h_W", "forecast_T_C"):
        np.testing.assert_allclose(
            three.evidence[name][0], one.evidence[name][0], rtol=1e-9, atol=1e-9
        )


def test_replicates_are_independent(three):
    runs = three.evidence["free_run_T_E"].values
    correlation = np.corrcoef(runs)[np.triu_indices(3, 1)]
    # 150 years hold some 150 independent months at a memory of a year: errors of 1/sqrt(150).
    assert np.abs(correlation).max() < 4 / np.sqrt(150)


def test_scores_are_means_over_replicates_with_their_standard_errors(model, three):
    per_replicate = three.evidence["event_count"].sel(event_type="EN").mean("event_segment")
    counts = three.result.detail.statistical.event_counts["EN"]
    assert counts.mean == pytest.approx(float(per_replicate.mean()))
    estimate = three.result.detail.dynamical.components["A/h_W"]
    record = nature_run().development.values[24:, 2]
    nse = [
        1 - ((smoothed - record) ** 2).sum() / ((record - record.mean()) ** 2).sum()
        for smoothed in three.evidence["smoothed_h_W"].sel(test="A").values[:, 24:]
    ]
    assert estimate.mean == pytest.approx(np.mean(nse))
    assert estimate.standard_error == pytest.approx(np.std(nse, ddof=1) / np.sqrt(3))


def test_every_replicate_has_its_scores_and_the_same_in_any_number_of_them(one, three):
    each = [scores.composite for scores in three.result.replicate_scores]
    assert np.mean(each) == pytest.approx(three.result.scores.composite)
    first = three.result.replicate_scores[0].model_dump()
    assert one.result.replicate_scores[0].model_dump() == pytest.approx(first, abs=1e-9)


def test_skewness_is_that_of_all_months_of_the_free_run(one):
    for name in ("T_C", "T_E"):
        monthly = one.evidence[f"free_run_{name}"].values.ravel()
        found = one.result.detail.statistical.skewness[name]
        assert found.mean == pytest.approx(scipy.stats.skew(monthly))
        assert found.observed == pytest.approx(
            scipy.stats.skew(nature_run().long.values[:, ("T_C", "T_E").index(name)])
        )


def test_a_single_replicate_has_no_standard_error(one):
    assert one.result.standard_errors is None
    assert one.result.detail.statistical.groups["pdf"].standard_error is None


def test_the_composite_weighs_the_dimensions(three):
    scores = three.result.scores
    expected = 0.3 * scores.statistical + 0.3 * scores.dynamical + 0.4 * scores.predictive
    assert scores.composite == pytest.approx(expected)


def test_the_same_seed_gives_the_same_result_and_another_seed_another(model, one):
    assert grade(model, nature_run()).result == one.result
    assert grade(model, nature_run(), seed=1).result.scores != one.result.scores


def test_an_exploding_model_scores_zero_with_reason_and_month(exploding):
    graded = grade(exploding, nature_run())
    assert graded.result.outcome == "invalid"
    assert graded.result.reason.category == "non_finite"
    # 4.5e6 a month from noise of order 1 passes 1.8e308 in the 47th month.
    assert "free run is not finite from its month 4" in graded.result.reason.message
    assert "month 11 of year 4" in graded.result.reason.message
    assert set(graded.result.scores.model_dump().values()) == {0.0}
    assert graded.evidence is None


def test_models_of_one_structure_are_compiled_once(model, monkeypatch):
    monkeypatch.setattr(grading._runs, "make_room_for_programs", lambda: None)
    programs = [grading._runs._free_runs, grading._runs._smoothings, grading._runs._forecasts]
    grade(model, nature_run())
    before = [program._cached._cache_size() for program in programs]
    doubled = jax.tree.map(lambda leaf: leaf * 1.01, model)
    grade(doubled, nature_run(), seed=5)
    assert [program._cached._cache_size() for program in programs] == before


def test_missing_values_are_left_out_everywhere(model):
    record = nature_run()
    gappy_development, gappy_held_out = (
        np.array(series.values) for series in (record.development, record.held_out)
    )
    gappy_development[100:112, 4] = np.nan
    gappy_held_out[60:, 3] = np.nan

    def with_values(series, values):
        return dataclasses.replace(series, values=values, measured=np.isfinite(values))

    gappy = dataclasses.replace(
        record,
        development=with_values(record.development, gappy_development),
        held_out=with_values(record.held_out, gappy_held_out),
    )
    graded = grade(model, gappy)
    assert graded.result.detail.predictive.starts == 60
    assert np.isfinite(graded.evidence["forecast_T_E"]).all(("replicate", "lead")).sum() == 60
    assert np.isfinite(graded.evidence["smoothed_tau"]).all()


def test_a_record_without_a_complete_start_is_refused(model):
    record = nature_run()
    values = np.array(record.held_out.values)
    values[:, 3] = np.nan
    held_out = dataclasses.replace(record.held_out, values=values, measured=np.isfinite(values))
    with pytest.raises(ObservationError, match="no forecast can be scored"):
        grade(model, dataclasses.replace(record, held_out=held_out))


@pytest.mark.parametrize(
    ("options", "words"), [({"replicates": 0}, "at least 1"), ({"seed": -1}, "cannot be negative")]
)
def test_impossible_settings_are_refused(model, options, words):
    with pytest.raises(ValueError, match=words):
        grade(model, nature_run(), **options)


def test_float64_is_never_silently_float32(model):
    record = nature_run()
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(PrecisionError, match="jax_enable_x64"):
            grade(model, record)
    finally:
        jax.config.update("jax_enable_x64", True)


def test_single_precision_gives_nearly_the_same_score(model, one):
    single = dataclasses.replace(QUICK, state_dtype="float32", noise_dtype="float32")
    graded = grade(model, nature_run(), protocol=single)
    assert graded.evidence["free_run_T_E"].dtype == np.float32
    # The noise is the same; rounding moves some winters across thresholds, no more.
    assert graded.result.scores.composite == pytest.approx(one.result.scores.composite, abs=0.02)


def test_the_result_survives_its_file(one, tmp_path):
    path = tmp_path / "scores.json"
    path.write_text(one.result.to_json())
    assert read_result(path) == one.result
    json.loads(path.read_text(), parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("change", "place"),
    [({"schema_version": 1}, "schema_version"), ({"extra": 1}, "extra"), ({"seed": "x"}, "seed")],
)
def test_a_file_of_another_kind_is_refused_in_one_sentence(one, tmp_path, change, place):
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(one.result.model_dump() | change))
    with pytest.raises(grading.ResultError, match=f"at {place},"):
        read_result(path)


def test_every_variable_of_the_evidence_says_what_it_is(one):
    for name, variable in one.evidence.variables.items():
        if name in ("time", "start", "held_out_time"):
            assert np.issubdtype(variable.dtype, np.datetime64)
        else:
            assert variable.attrs["units"], name
            assert variable.attrs["long_name"], name


def test_the_evidence_survives_its_file(one, tmp_path):
    path = tmp_path / "experiments.nc"
    one.evidence.to_netcdf(path, engine="netcdf4")
    with xr.open_dataset(path, engine="netcdf4", decode_timedelta=False) as again:
        xr.testing.assert_identical(again.load(), one.evidence)


def test_a_results_digest_tells_parameters_apart(model):
    changed = jax.tree.map(lambda leaf: leaf + 1e-12, model)
    assert step_digest(model) == step_digest(built_in("fable-5.1").build())
    assert step_digest(model) != step_digest(changed)


def test_invalid_results_are_results_too(exploding, tmp_path):
    result = grade(exploding, nature_run()).result
    assert GradeResult.model_validate_json(result.to_json()) == result
