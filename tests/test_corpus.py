"""No submission yields a wrong score, a hang, a traceback, a leftover process or file."""

import tempfile
from pathlib import Path

import corpus
import jax
import numpy as np
import pytest

from enso_jax.experiments import in_precision
from enso_jax.grading import GradeResult, examine_submission, grade_submission
from enso_jax.observations import nature_run
from enso_jax.protocol import Protocol
from enso_jax.stepping import advance_month
from enso_jax.submissions import Patience, choose, read_folder

#: As little as can be graded: the host engine's every step is a call of Python.
QUICK = Protocol(
    free_run_years=76, free_run_spin_up_years=4, smoother_members=20, forecast_members=4
)
LONG = Protocol(
    free_run_years=280, free_run_spin_up_years=4, smoother_members=20, forecast_members=4
)
#: Case that shows only in a run of centuries.
LATE = ("broken/nan_after_200_years",)

#: Long enough for an honest one on a busy machine, short enough to wait for the others.
PATIENCE = Patience(
    start_s=25.0, import_s=6.0, check_s=30.0, trace_s=45.0, advance_s=30.0, host_s=300.0
)
#: For those that are known to keep one waiting.
SHORT = Patience(
    start_s=8.0, import_s=4.0, check_s=10.0, trace_s=30.0, advance_s=15.0, host_s=300.0
)


def graded(case: corpus.Case, folder: Path) -> GradeResult:
    built = corpus.build(case, folder)
    protocol = LONG if case.name in LATE else QUICK
    patience = SHORT if "timeout" in case.allowed else PATIENCE
    return grade_submission(built, nature_run(), protocol, patience=patience).result


@pytest.fixture(scope="session")
def composite(tmp_path_factory):
    """The composite of a case, graded once."""
    known: dict[str, float] = {}

    def of(name: str) -> float:
        if name not in known:
            (case,) = (case for case in corpus.cases() if case.name == name)
            result = graded(case, tmp_path_factory.mktemp("like"))
            known[name] = result.scores.composite
        return known[name]

    return of


def processes_of(folder: Path) -> list[str]:
    """The command lines of all processes whose environment names `folder`."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if (
                process.name.isdigit()
                and str(folder).encode() in (process / "environ").read_bytes()
            ):
                found.append((process / "cmdline").read_text())
        except OSError:  # it has ended meanwhile
            continue
    return found


#: Of the ordinary ones that compile, those that go through every experiment: compiling three
#: programs for each takes minutes, and what may go wrong in these was seen to. The others are
#: taken through a month.
WHOLE = frozenset(
    f"ordinary/{name}"
    for name in (
        "calendar_mid_month",
        "float32_result",
        "gamma_noise",
        "implicit_solve",
        "jax_cond_switch",
        "jax_plain",
        "jax_scan_substeps",
        "masks_in_place",
        "plain",
        "runge_kutta",
        "season_branch",
        "table_interpolated",
    )
)


def is_graded(case: corpus.Case) -> bool:
    compiled = case.kind == "ordinary" and case.engine == "compiled"
    return not compiled or case.name in WHOLE or case.scores_like is not None


GRADED = [case for case in corpus.cases() if is_graded(case)]
STEPPED = [case for case in corpus.cases() if not is_graded(case)]


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """A place for temporary files, in which nothing is left, by files or by processes."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []
    assert processes_of(folder) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", GRADED, ids=str)
def test_a_submission_has_its_outcome_and_leaves_nothing_behind(case, composite, tmp_path, scratch):
    result = graded(case, tmp_path)

    outcome = "scored" if result.reason is None else result.reason.category
    assert outcome in case.allowed, result.reason
    if outcome == "scored":
        if case.engine != "any":
            assert result.submission.engine == case.engine, result.submission.not_compiled
        if case.scores_like is not None:
            assert result.scores.composite == pytest.approx(composite(case.scores_like), abs=1e-6)
    else:
        assert "Traceback" not in result.reason.message
        assert "\n" not in result.reason.message


@pytest.mark.slow
@pytest.mark.parametrize("case", STEPPED, ids=str)
def test_an_ordinary_submission_compiles_alone_and_in_an_ensemble(case, tmp_path, scratch):
    built = corpus.build(case, tmp_path)
    examined = examine_submission(read_folder(built), QUICK, choose(), patience=PATIENCE)
    assert examined.about.engine == "compiled", examined.about.not_compiled
    step = in_precision(examined.step, QUICK)
    rng = np.random.default_rng(0)
    ensemble = rng.standard_normal((5, 3)) * np.array([[0.6], [0.9], [13.0], [0.1], [2.0]])
    noise = rng.standard_normal((QUICK.steps_per_month, step.noise_size, 3))

    advanced = jax.jit(advance_month)(step, ensemble, np.asarray(7.0), noise)

    alone = jax.jit(advance_month)(step, ensemble[:, 1], np.asarray(7.0), noise[:, :, 1])
    assert np.isfinite(advanced).all()
    assert np.abs(advanced - ensemble).min() > 0.0
    np.testing.assert_allclose(advanced[:, 1], alone, rtol=1e-5, atol=1e-7)


def test_nine_in_ten_ordinary_numpy_submissions_compile():
    """Each that is marked compiled is held to it by the tests above."""
    numpy_cases = [case for case in corpus.cases("ordinary") if case.form == "numpy"]
    compiled = [case for case in numpy_cases if case.engine == "compiled"]
    assert len(compiled) / len(numpy_cases) >= 0.9
