"""The commands as a user meets them: what they print, write, refuse and return."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from enso_jax import models
from enso_jax.models import BuiltInModel
from enso_jax.observations import nature_run, write_record


@pytest.fixture(autouse=True)
def _no_record_of_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("ENSO_OBSERVATIONS", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "the one that conftest.py chose")


@pytest.fixture
def exploding_model(monkeypatch, exploding):
    model = BuiltInModel("exploding", "a model that blows up", "this test", None, lambda: exploding)
    monkeypatch.setitem(models.BUILT_IN, "exploding", model)


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess]:
    """One real grade in a process of its own, on the nature run."""
    out = tmp_path_factory.mktemp("graded") / "new" / "folder"
    process = subprocess.run(
        [sys.executable, "-m", "enso_jax", "grade", "multiscale-5", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        env=_bare_environment(),
    )
    return out, process


def _bare_environment() -> dict[str, str]:
    import os

    return {k: v for k, v in os.environ.items() if k != "ENSO_OBSERVATIONS"}


def test_grade_shows_every_dimension_beside_the_printed_scores(graded):
    _, process = graded
    assert process.returncode == 0, process.stderr
    assert "Traceback" not in process.stderr
    for words in ("Composite", "Statistical properties", "Dynamical consistency", "Predictive"):
        assert words in process.stdout
    assert "0.378" in process.stdout  # the published reference's printed composite


def test_grade_says_that_the_record_is_simulated(graded):
    _, process = graded
    assert "against a simulated record" in process.stdout


def test_grade_writes_scores_evidence_and_figure_and_nothing_else(graded):
    out, _ = graded
    assert sorted(path.name for path in out.iterdir()) == [
        "experiments.nc",
        "scorecard.png",
        "scores.json",
    ]
    scores = json.loads((out / "scores.json").read_text())
    assert scores["observations"]["kind"] == "simulated"
    with xr.open_dataset(out / "experiments.nc", engine="netcdf4", decode_timedelta=False) as data:
        assert np.isfinite(data.free_run_T_E).all()
        assert data.sizes["free_run_month"] == 25_200


def test_grade_json_prints_one_object_and_nothing_else(run):
    status, stdout, stderr = run("grade", "multiscale-5", "--json")
    assert status == 0
    assert stderr == ""
    assert json.loads(stdout)["outcome"] == "scored"


def test_an_invalid_model_exits_with_1_and_says_why(run, exploding_model):
    status, stdout, _ = run("grade", "exploding")
    assert status == 1
    assert "Invalid, score 0. The free run is not finite from its month" in stdout


def test_an_invalid_models_json_is_a_result(run, exploding_model, tmp_path):
    status, stdout, _ = run("grade", "exploding", "--json", "--out", tmp_path / "out")
    assert status == 1
    assert json.loads(stdout)["reason"]["category"] == "non_finite"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["scores.json"]


def test_an_invalid_result_takes_away_the_evidence_of_the_one_before(
    run, exploding_model, tmp_path
):
    (tmp_path / "experiments.nc").write_text("of an earlier grade")
    (tmp_path / "notes.txt").write_text("the user's own")
    run("grade", "exploding", "--out", tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.*")) == ["notes.txt", "scores.json"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "fabel-5.1"], "did you mean fable-5.1"),
        (["grade", "qqqq"], "there are fable-5.1,"),
        (["grade"], "Missing argument"),
        (["grade", "fable-5.1", "--replicates", "0"], "--replicates"),
        (["grade", "fable-5.1", "--replicates", "many"], "--replicates"),
        (["grade", "fable-5.1", "--seed", "-1"], "--seed"),
        (["grade", "fable-5.1", "--precision", "half"], "--precision"),
        (["grade", "fable-5.1", "--observations", "/no/such/folder"], "/no/such/folder"),
        (["grade", "fable-5.1", "--out", "/dev/null/out"], "/dev/null/out cannot be written"),
        (["observations", "show", "--observations", "/no/such/folder"], "/no/such/folder"),
        (["observations", "show", "--out", "record.doc"], "does not end in .png"),
        (["observations", "show", "--out", "/no/such/folder/record.png"], "cannot be written"),
        (["models", "fable"], "did you mean fable-5.1"),
        (["grate"], "No such command"),
        (["grade", "fable-5.1", "--fast"], "--fast"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(run, arguments, words):
    status, stdout, stderr = run(*arguments)
    assert status == 2
    assert stdout == ""
    assert words in stderr
    assert stderr.count("\n") == 1


def test_an_empty_folder_of_observations_is_refused(run, tmp_path):
    status, _, stderr = run("grade", "fable-5.1", "--observations", tmp_path)
    assert status == 2
    assert "is empty" in stderr


def test_a_record_with_a_changed_file_is_refused(run, tmp_path):
    folder = tmp_path / "record"
    write_record(nature_run(), folder)
    with (folder / "held_out.csv").open("a") as file:
        file.write("\n")
    status, _, stderr = run("grade", "fable-5.1", "--observations", folder)
    assert status == 2
    assert "held_out.csv: the file has changed" in stderr


def test_the_environment_names_the_record(run, tmp_path, monkeypatch):
    monkeypatch.setenv("ENSO_OBSERVATIONS", "/no/such/folder")
    status, _, stderr = run("grade", "fable-5.1")
    assert status == 2
    assert "/no/such/folder" in stderr


def test_an_installed_record_is_used_before_the_nature_run(run, tmp_path):
    write_record(nature_run(), tmp_path / "data" / "enso-jax" / "observations")
    (tmp_path / "data" / "enso-jax" / "observations" / "manifest.json").write_text("{}")
    status, _, stderr = run("observations", "show")
    assert status == 2
    assert "manifest.json" in stderr


def test_an_error_of_the_grader_is_no_score(run, monkeypatch):
    def fail(*arguments, **options):
        raise RuntimeError("out of coffee")

    monkeypatch.setattr("enso_jax.grading.grade", fail)
    status, stdout, stderr = run("grade", "fable-5.1", "--json")
    assert status == 3
    assert stdout == ""
    assert (
        "The grader failed, which says nothing of the model: RuntimeError: out of coffee" in stderr
    )


def test_models_lists_every_built_in_model_with_its_scores(run):
    status, stdout, _ = run("models")
    assert status == 0
    for model in models.BUILT_IN.values():
        assert model.name in stdout
        assert f"{model.published.composite:.3f}" in stdout
    assert "stand-in" in stdout


def test_models_prints_the_equations_of_one(run):
    _, stdout, _ = run("models", "fable-5.1")
    assert "- 7.181 T_C^3 + 0.004 ] dt" in stdout
    assert "0.024 (1 + 0.2 c1) max(1 - 4 h_W, 0.2) dW_h_W" in stdout


def test_observations_show_summarises_and_draws(run, tmp_path):
    picture = tmp_path / "record.png"
    status, stdout, _ = run("observations", "show", "--out", picture)
    assert status == 0
    assert "nature-run (simulated)" in stdout
    assert "long record, 1950-2019" in stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "command", [["grade"], ["leaderboard"], ["models"], ["observations", "show"]], ids=" ".join
)
def test_help_has_an_example(run, command):
    status, stdout, _ = run(*command, "--help")
    assert status == 0
    assert f"Example: enso-jax {' '.join(command)}" in stdout


def test_help_does_not_wait_for_jax():
    code = "import sys, enso_jax.cli; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- Folders of someone's code ------------------------------------------------------------


@pytest.mark.parametrize("form", ["numpy", "jax"])
def test_a_new_submission_validates(run, tmp_path, form):
    folder = tmp_path / "mine"
    status, stdout, _ = run("new", folder, "--form", form)
    assert status == 0
    assert f"enso-jax validate {folder}" in stdout
    status, stdout, _ = run("validate", folder)
    assert status == 0, stdout
    assert f"Valid: {form} form" in stdout
    assert "It is compiled; a step takes 5 normals." in stdout


def test_new_overwrites_nothing(run, tmp_path):
    (tmp_path / "model.py").write_text("mine")
    status, _, stderr = run("new", tmp_path)
    assert status == 2
    assert "is not an empty folder" in stderr
    assert (tmp_path / "model.py").read_text() == "mine"


def test_validate_names_every_fault_of_the_files(run, tmp_path):
    (tmp_path / "model.py").write_text("def step(")
    (tmp_path / "params.json").write_text('{"a": NaN}')
    status, stdout, _ = run("validate", tmp_path)
    assert status == 1
    lines = stdout.strip().splitlines()
    assert [line.split(":")[0] for line in lines] == ["missing_file", "not_python", "bad_params"]
    assert "MODEL_CARD.md is missing" in lines[0]
    assert "line 1" in lines[1]


def test_a_folder_is_graded_and_the_outcome_is_in_the_exit_status(run, tmp_path):
    run("new", tmp_path / "mine")
    (tmp_path / "mine" / "model.py").write_text("def step(state, t, dt, rng): return state[:, :4]")
    status, stdout, _ = run("grade", tmp_path / "mine")
    assert status == 1
    assert "step returned shape (1, 4)" in stdout
    assert "(wrong_shape)" in stdout


def test_a_graded_folder_says_which_engine_and_sandbox(run, tmp_path):
    run("new", tmp_path / "mine")
    status, stdout, _ = run("grade", tmp_path / "mine", "--json")
    assert status == 0
    about = json.loads(stdout)["submission"]
    assert (about["name"], about["form"], about["engine"]) == ("mine", "numpy", "compiled")
    assert about["isolation"] in ("bubblewrap", "landlock")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "/no/such/model"], "/no/such/model does not exist"),
        (["grade", __file__], "is a file"),
        (["validate", "/no/such/model"], "/no/such/model does not exist"),
        (["grade", ".", "--isolation", "wishes"], "choose bubblewrap or landlock"),
        (["new", "x", "--form", "fortran"], "--form"),
        (["grade", ".", "--engine", "steam"], "--engine"),
    ],
)
def test_bad_input_about_folders_is_one_sentence_and_status_2(run, arguments, words):
    status, stdout, stderr = run(*arguments)
    assert status == 2
    assert stdout == ""
    assert words in stderr
    assert stderr.count("\n") == 1
