"""Is what the benchmark compares the same model, and is its report whole?

No test asserts a time.
"""

import importlib.util
import json
import math
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from enso_jax import benchmark, cli, grading
from enso_jax.benchmark import PARTS, Setting, report_tables, run_benchmark
from enso_jax.benchmark._setting import FOLDER
from enso_jax.benchmark._stacks import checkpoints
from enso_jax.experiments import RecordedNoise, forecast, free_run, smooth
from enso_jax.experiments._free_run import MONTHS_PER_BLOCK
from enso_jax.models import built_in

MEMBERS, STEPS = 20, 30


@pytest.fixture(scope="module")
def model():
    return built_in("fable-5.1").build()


@pytest.fixture(scope="module")
def loop():
    """The hand-written loop, whose compilation takes seconds."""
    from enso_jax.benchmark import _loop

    return _loop


@pytest.fixture(scope="module")
def normals():
    """What a generator of that seed fills into an array of that shape."""
    from enso_jax.benchmark import _normals

    def filled(seed, *shape):
        values, words = np.empty(shape), _normals.generator(seed)
        _normals.fill(values.reshape(-1), words)
        return values

    return filled


@pytest.fixture
def tiny(small_record, small_protocol):
    """A setting in which every part takes seconds."""
    return Setting(small_record, None, True, small_protocol(forecast_leads=3))


# --- The loop ---------------------------------------------------------------------------


def test_the_ziggurat_draws_standard_normals(normals):
    values = normals(0, 4_000_000)
    assert stats.kstest(values[:500_000], "norm").pvalue > 0.01
    for power, moment in enumerate((0.0, 1.0, 0.0, 3.0), 1):
        assert np.mean(values**power) == pytest.approx(moment, abs=0.02)
    beyond = np.abs(values) > 3.7  # drawn from the tail by a way of its own
    assert beyond.sum() == pytest.approx(2 * stats.norm.sf(3.7) * len(values), rel=0.15)
    assert np.corrcoef(values[1:], values[:-1])[0, 1] == pytest.approx(0.0, abs=0.003)


@pytest.mark.parametrize("size", [0.0, 1.0, 30.0])
def test_the_loop_makes_the_steps_of_the_model(loop, model, size):
    """Without noise, with noise, and with so much that the state meets its bound."""
    rng = np.random.default_rng(0)
    noise = size * rng.standard_normal((24, STEPS, 5))
    start = np.array([0.3, -0.2, 0.1, 0.2, -0.5])
    state, ensemble = start.copy(), np.repeat(start[:, None], 3, axis=1)
    by_engine, step = jnp.asarray(start * loop.SCALES), eqx.filter_jit(model)
    for month, of_month in enumerate(noise):
        loop.advance(state, month, of_month)
        for number, normal in enumerate(of_month):
            season = month % 12 * STEPS + number
            loop.step_ensemble(ensemble, season, np.repeat(normal[:, None], 3, axis=1))
            t = jnp.asarray(month + number / STEPS)
            by_engine = step(by_engine, t, jnp.asarray(1 / STEPS), jnp.asarray(normal))
        expected = np.asarray(by_engine) / loop.SCALES
        np.testing.assert_allclose(state, expected, atol=1e-9)
        np.testing.assert_allclose(ensemble, np.stack([expected] * 3, axis=1), atol=1e-9)


def test_its_free_run_is_that_of_the_engine(loop, model, normals, generator, small_protocol):
    protocol = small_protocol(free_run_years=20, free_run_spin_up_years=0)
    noise = RecordedNoise(jnp.asarray(normals(1, 2, MONTHS_PER_BLOCK, STEPS, 5)))

    by_engine = eqx.filter_jit(free_run)(model, noise, protocol).monthly

    by_loop = loop.free_run(240, generator(1)) * loop.SCALES
    np.testing.assert_allclose(by_loop, by_engine, rtol=1e-9, atol=1e-9)


def test_its_smoother_is_that_of_the_engine(
    loop, model, normals, generator, small_protocol, small_record
):
    protocol = small_protocol(smoother_members=MEMBERS)
    observations = small_record.development.values[:40].copy()
    tests = np.stack([observations, observations])
    tests[0, :, 2:] = np.nan
    tests[1, :, :2] = np.nan
    tests[1, 10:12] = np.nan
    error = np.array([0.3, 0.4, 2.0, 0.1, 0.5])
    noise = RecordedNoise(jnp.asarray(normals(2, 40, STEPS * 5 + 5, MEMBERS)))

    lag = protocol.smoother_lag
    by_loop = loop.smooth(tests / loop.SCALES, error / loop.SCALES, lag, MEMBERS, generator(2))

    for observed, smoothed in zip(tests, by_loop, strict=True):
        by_engine = eqx.filter_jit(smooth)(
            model, jnp.asarray(observed), jnp.asarray(error), noise, protocol
        ).smoothed
        np.testing.assert_allclose(smoothed * loop.SCALES, by_engine, rtol=1e-8, atol=1e-9)


def test_its_forecasts_are_those_of_the_engine(
    loop, model, normals, generator, small_protocol, small_record
):
    protocol = small_protocol(forecast_leads=6)
    members = protocol.forecast_members
    initial, months = small_record.held_out.values[:14], np.arange(14) % 12
    drawn = normals(3, len(initial), 6, STEPS, 5, members)
    noise = RecordedNoise(jnp.asarray(np.swapaxes(drawn, 0, 1)))

    by_engine = eqx.filter_jit(forecast)(
        model, jnp.asarray(initial), jnp.asarray(months), noise, protocol
    ).mean

    by_loop = loop.forecasts(initial / loop.SCALES, months, 6, members, generator(3))
    np.testing.assert_allclose(by_loop * loop.SCALES, by_engine, rtol=1e-9, atol=1e-9)


@pytest.fixture(scope="module")
def generator():
    from enso_jax.benchmark import _normals

    return _normals.generator


# --- The submission ---------------------------------------------------------------------


def test_the_numpy_submission_is_the_built_in_model(model, small_record, small_protocol):
    protocol = small_protocol()
    about = grading.submission(model, "fable-5.1")

    by_folder = grading.grade_submission(FOLDER, small_record, protocol).result
    built_in_one = grading.grade(model, about, small_record, protocol).result

    assert by_folder.submission.engine == "compiled"
    assert by_folder.scores.model_dump() == pytest.approx(
        built_in_one.scores.model_dump(), abs=1e-9
    )


def test_checkpoints_are_near_the_model_and_of_its_structure(model):
    models = checkpoints(model, 3)
    assert {jax.tree.structure(near) for near in models} == {jax.tree.structure(model)}
    for near in models:
        for leaf, original in zip(jax.tree.leaves(near), jax.tree.leaves(model), strict=True):
            np.testing.assert_allclose(leaf, original, rtol=0.01)
    assert len({float(near.terms[0].coefficients[0]) for near in models}) == 3


# --- The report -------------------------------------------------------------------------


def numbers(value):
    """Every number in a JSON value that is a measurement: differences may be of either sign."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("minus_mixed", "scores", "sampling_error"):
                yield from numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


@pytest.mark.parametrize("part", ["floor", "engines", "growth", "precision"])
def test_each_part_measures_positive_finite_numbers(tiny, part):
    ended = []

    report = run_benchmark(tiny, [part], ended.append)

    assert ended == [part]
    assert report.skipped == {}
    found = json.loads(report.to_json())[part]
    assert all(value > 0 and math.isfinite(value) for value in numbers(found))
    assert len(list(report_tables(report))) == 1


def test_stacks_are_graded_in_one_call_each(tiny, monkeypatch):
    calls = []

    def grade_stack(steps, submissions, record, protocol):
        assert record is tiny.record
        calls.append((len(steps), len(submissions)))
        return iter(())

    monkeypatch.setattr(grading, "grade_stack", grade_stack)
    report = run_benchmark(tiny, ["stacked"])
    assert {stack.checkpoints for stack in report.stacked.stacks} == {1, 8}
    assert set(calls) == {(1, 1), (8, 8)}


def test_what_cannot_be_measured_is_skipped_with_a_reason(tiny, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "numba" else find(name)
    )
    report = run_benchmark(tiny, ["floor"])
    assert report.floor is None
    assert "pip install 'enso-jax[benchmark]'" in report.skipped["floor"]


def command(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["enso-jax", "benchmark", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err


def test_the_command_prints_one_json_object(monkeypatch, capsys, tiny):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "the one that conftest.py chose")
    monkeypatch.setattr(benchmark.Setting, "of", lambda *arguments: tiny)

    status, stdout, _ = command(monkeypatch, capsys, "--quick", "--json", "--only", "floor")

    assert status == 0
    report = json.loads(stdout)
    assert report["schema_version"] == 1
    assert report["quick"]
    assert {"jax", "jaxlib", "numpy", "numba", "python"} == set(report["machine"]["versions"])
    assert [part for part in PARTS if report[part] is not None] == ["floor"]
    assert [pace["experiment"] for pace in report["floor"]["paces"]] == [
        "free run",
        "smoother",
        "forecasts",
    ]


def test_a_part_that_does_not_exist_is_named_in_one_sentence(monkeypatch, capsys):
    status, stdout, stderr = command(monkeypatch, capsys, "--only", "floor,ceiling")
    assert status == 2
    assert stdout == ""
    assert "no part 'ceiling'" in stderr
    assert stderr.count("\n") == 1


@pytest.mark.slow
def test_new_processes_are_timed_and_their_memory_is_measured(monkeypatch, tiny):
    report = run_benchmark(tiny, ["start", "memory"])
    found = json.loads(report.to_json())
    assert all(value > 0 for part in ("start", "memory") for value in numbers(found[part]))
    # Of a process that has imported JAX and graded.
    assert 100 < found["memory"]["compiled_bytes"] / 2**20 < 20_000
