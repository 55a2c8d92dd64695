"""A folder is graded as a built-in model is: the same model in every form gets the same scores."""

import json
import shutil
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from enso_jax.grading import GradeResult, grade, grade_submission, submission, validate_submission
from enso_jax.models import Ramp, TermModel, drift, noise
from enso_jax.observations import nature_run
from enso_jax.protocol import Protocol
from enso_jax.state import NAMES
from enso_jax.submissions import (
    ISOLATIONS,
    IsolationUnavailable,
    Patience,
    ProgramStep,
    available,
    choose,
    examine,
    read_folder,
    write_starter,
)

#: Short enough for the host engine, whose every step is a call of Python.
QUICK = Protocol(
    free_run_years=76,
    free_run_spin_up_years=4,
    smoother_members=20,
    forecast_members=4,
)


def starter_as_terms() -> TermModel:
    """The starter submission written as terms, from its own numbers."""
    import enso_jax.submissions

    folder = Path(enso_jax.submissions.__file__).parent / "starters" / "numpy"
    p = json.loads((folder / "params.json").read_text())
    terms = []
    for name, row in zip(NAMES, p["drift"], strict=True):
        couplings = dict(zip(NAMES, row, strict=True))
        if name in ("T_C", "T_E"):
            cycle = p[f"season_{name}"]
            growth = {"1": couplings[name], "c1": cycle["cos"], "s1": cycle["sin"]}
            couplings |= {name: growth}
        terms += drift(name, couplings)
    east, wind = p["noise_T_E"], p["noise_tau"]
    factors = {
        "T_E": (Ramp("T_E", 1, east["slope"], east["floor"], east["ceiling"]),),
        "tau": (Ramp("T_C", 1, wind["slope"], wind["floor"]),),
    }
    amplitudes = [
        noise(name, size, factors=factors.get(name, ()))
        for name, size in zip(NAMES, p["noise"], strict=True)
    ]
    return TermModel(terms, amplitudes, phase=0.5)


@pytest.fixture(scope="module")
def starters(tmp_path_factory) -> dict[str, Path]:
    folders = {}
    for form in ("numpy", "jax"):
        folders[form] = tmp_path_factory.mktemp("starters") / form
        write_starter(folders[form], form)
    return folders


@pytest.fixture(scope="module")
def terms() -> GradeResult:
    step = starter_as_terms()
    return grade(step, submission(step, "starter"), nature_run(), QUICK).result


@pytest.mark.parametrize(
    ("form", "engine"), [("numpy", "compiled"), ("jax", "compiled"), ("numpy", "host")]
)
def test_every_form_and_engine_gives_the_scores_of_the_term_model(starters, terms, form, engine):
    result = grade_submission(starters[form], nature_run(), QUICK, engine=engine).result
    assert (result.outcome, result.submission.engine) == ("scored", engine), result.reason
    assert result.submission.form == form
    for name, score in terms.scores.model_dump().items():
        assert getattr(result.scores, name) == pytest.approx(score, abs=5e-9)


@pytest.mark.parametrize("form", ["numpy", "jax"])
def test_a_starter_is_valid_and_compiled(starters, form):
    found = validate_submission(starters[form])
    assert found.faults == ()
    assert found.examination.program is not None, found.examination.reason
    assert found.examination.noise_size == 5
    # Observed: .63, .86, 13.2, .13, 2.7.
    np.testing.assert_allclose(found.spread, [0.63, 0.86, 13.2, 0.13, 2.7], rtol=0.4)


def test_a_calendar_shifts_the_seasons(starters, terms):
    shifted = grade_submission(
        starters["numpy"], nature_run(), QUICK, months_at_1_january=6.0
    ).result
    assert shifted.scores.statistical < terms.scores.statistical
    whole_year = grade_submission(
        starters["numpy"], nature_run(), QUICK, months_at_1_january=12.0
    ).result
    assert whole_year.scores.statistical == pytest.approx(terms.scores.statistical, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 11))
def test_the_ten_shared_models_are_graded_unchanged_and_nine_are_compiled(
    shared_submissions, number
):
    (folder,) = (path for path in shared_submissions if path.name.startswith(f"s{number:02}_"))
    result = grade_submission(folder, nature_run(), QUICK).result
    assert result.reason is None
    if folder.name == "s10_wind_bursts":
        assert result.submission.engine == "host"
        assert "model.py, line 36: rng.poisson" in result.submission.not_compiled
    else:
        assert result.submission.engine == "compiled"


@pytest.mark.parametrize("sandbox", ISOLATIONS)
def test_each_sandbox_gives_the_same_scores(starters, terms, sandbox):
    if sandbox not in available():
        pytest.skip(f"{sandbox} does not work on this machine")
    result = grade_submission(starters["numpy"], nature_run(), QUICK, isolation=sandbox).result
    assert result.submission.isolation == sandbox
    assert result.scores.composite == pytest.approx(terms.scores.composite, abs=5e-9)


def test_without_a_sandbox_nothing_is_run(starters, monkeypatch):
    from enso_jax.submissions import _isolation

    monkeypatch.setattr(_isolation, "_obstacle", lambda isolation: "it is broken")
    with pytest.raises(IsolationUnavailable, match="install bubblewrap"):
        grade_submission(starters["numpy"], nature_run(), QUICK)


def test_two_starters_of_one_code_stack(starters, tmp_path):
    """Checkpoints that differ in their numbers alone are one structure with other leaves."""
    other = tmp_path / "other"
    shutil.copytree(starters["jax"], other)
    params = json.loads((other / "params.json").read_text())
    params["noise"] = [1.1 * size for size in params["noise"]]
    (other / "params.json").write_text(json.dumps(params))
    steps = [
        ProgramStep(examine(read_folder(folder), QUICK.dt, choose(), Patience()).program, QUICK.dt)
        for folder in (starters["jax"], other)
    ]
    assert steps[0].structure == steps[1].structure
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *steps)
    assert stacked.scalars.shape[0] == 2
