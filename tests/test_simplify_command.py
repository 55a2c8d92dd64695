"""`enso-jax simplify` as a user meets it: what it prints, writes, refuses and returns."""

import json
import shutil

import pytest

from enso_jax.cli import _simplify
from enso_jax.models import built_in
from enso_jax.protocol import Protocol
from enso_jax.written import term_model_from_json, write_submission

SMALL = Protocol(
    free_run_years=290, free_run_spin_up_years=10, smoother_members=40, forecast_members=10
)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ENSO_OBSERVATIONS", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "the one that conftest.py chose")
    monkeypatch.setattr(_simplify, "protocol_of", lambda precision: SMALL)


def asked(run, *arguments):
    return run("simplify", "--replicates", "2", "--scheduler", "here", *arguments)


def test_one_reduction_is_shown_and_written(run, tmp_path):
    command = ("fable-5.1", "--drop", "nonlinear,seasonal/u", "--criteria", "dimension=0.5")
    status, shown, _ = asked(run, *command)
    assert status == 0
    assert "nothing: as submitted" in shown
    assert "all nonlinear, seasonal/u/h_W" in shown
    assert "39 of 49 drift coefficients" in shown
    assert "simulated record" in shown

    folder = tmp_path / "simplified" / "fable-5.1"
    assert {path.name for path in folder.iterdir()} == {
        "simplification.json",
        "simplification.png",
        "linear-multiplicative",
        "linear-multiplicative.tex",
        "linear-multiplicative.txt",
    }
    said = json.loads((folder / "simplification.json").read_text())
    assert said["criteria"]["dimension"] == 0.5
    model = term_model_from_json((folder / "linear-multiplicative" / "params.json").read_text())
    assert not model.nonlinear
    assert sum(len(term.harmonics) for term in model.terms) == 39
    equations = (folder / "linear-multiplicative.txt").read_text()
    assert "dT_E = [" in equations
    assert r"\begin{align" in (folder / "linear-multiplicative.tex").read_text()

    # The same again is right and written already; another reduction in its place is not.
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert asked(run, *command)[0] == 0
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    status, _, error = asked(run, "fable-5.1", "--drop", "nonlinear")
    assert status == 2
    assert "simplified/fable-5.1 is there already with other contents" in error
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.slow
def test_the_final_models_of_runs_make_the_papers_table(run, tmp_path):
    model = built_in("fable-5.1").build()
    earlier = built_in("multiscale-5").build()
    for number, step in enumerate((earlier, model), start=1):
        folder = tmp_path / "runs" / "first" / "checkpoints" / f"{number:04}"
        write_submission(step, folder, title="A checkpoint", provenance="This test.")
    lock = {"system": {"agent": "someone", "model": "Somebody 1"}}
    (tmp_path / "runs" / "first" / "lock.json").write_text(json.dumps(lock))

    lenient = ("--criteria", "dimension=0,skewness=0")
    status, shown, error = asked(run, "runs/first", "fable-5.1", "--drop", "nonlinear", *lenient)
    assert status == 0, error
    table = shown[shown.index("version") :]
    rows = [line.split() for line in table.splitlines() if "Original" in line]
    assert [row[0] for row in rows] == ["Somebody", "fable-5.1"]
    assert table.count("Simplified") == 2
    # The run's last checkpoint is fable-5.1 in code, whose terms are found: the same scores.
    assert rows[0][-4:] == rows[1][-4:]
    assert "Its terms were found along its own run" in shown
    assert (tmp_path / "simplified" / "first" / "simplification.json").exists()


def test_json_is_all_that_is_printed(run):
    status, shown, _ = asked(run, "fable-5.1", "--drop", "nonlinear", "--json")
    (said,) = json.loads(shown)
    assert status == 0
    assert said["name"] == "fable-5.1"
    assert said["paths"][0]["start"] == "as asked"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("fable-5.1", "--drop", "nonlinear/T_F"), "no group 'nonlinear/T_F': did you mean"),
        (("fable-5.1", "--criteria", "composit=1"), "'composit=1' is no criterion"),
        (("fable-5", "--drop", "nonlinear"), "There is no model called 'fable-5'"),
        (("runs/none",), "runs/none does not exist"),
        (("fable-5.1", "--search", "exhaustive"), "13 groups that could be dropped"),
    ],
)
def test_a_mistake_is_one_sentence(run, arguments, sentence, tmp_path):
    status, shown, error = asked(run, *arguments)
    assert status == 2
    assert sentence in error
    assert error.count("\n") == 1
    assert "Traceback" not in error
    assert "Written" not in shown
    assert not list(tmp_path.glob("simplified/*"))
    shutil.rmtree(tmp_path / "store", ignore_errors=True)


@pytest.mark.slow
def test_what_cannot_be_compiled_costs_the_others_nothing(run, shared_submissions, tmp_path):
    (called,) = (path for path in shared_submissions if path.name == "s10_wind_bursts")
    status, _, error = asked(run, str(called), "fable-5.1", "--drop", "nonlinear")
    assert status == 1
    assert "s10_wind_bursts: Only a model that can be compiled can be simplified" in error
    assert "rng.poisson" in error
    assert (tmp_path / "simplified" / "fable-5.1").exists()
