"""On the measured record the paper's two printed models get the paper's printed scores."""

import pytest

from enso_jax.grading import GradeResult, grade, submission
from enso_jax.models import built_in

REPLICATES = 8

#: Half-widths that hold the printed value: it is one seed's (about .02 on S and .006 on P), and
#: what the paper leaves open was settled to within about as much.
TOLERANCE = {"statistical": 0.03, "dynamical": 0.012, "predictive": 0.012, "composite": 0.02}


@pytest.fixture(scope="module")
def results(measured_record) -> dict[str, GradeResult]:
    def result(name: str) -> GradeResult:
        step = built_in(name).build()
        about = submission(step, name, form="built-in")
        return grade(step, about, measured_record, replicates=REPLICATES).result

    return {name: result(name) for name in ("fable-5.1", "fable-5.1-simplified", "multiscale-5")}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fable-5.1", "fable-5.1-simplified"])
@pytest.mark.parametrize("dimension", TOLERANCE)
def test_printed_scores_are_reproduced(results, name, dimension):
    printed = getattr(built_in(name).published, dimension)
    assert getattr(results[name].scores, dimension) == pytest.approx(
        printed, abs=TOLERANCE[dimension]
    )


@pytest.mark.slow
def test_simplification_raises_s_and_p_and_lowers_d(results):
    original, simplified = results["fable-5.1"].scores, results["fable-5.1-simplified"].scores
    assert simplified.statistical > original.statistical
    assert simplified.predictive > original.predictive
    assert simplified.dynamical < original.dynamical


@pytest.mark.slow
def test_the_stand_in_scores_near_the_published_reference(results):
    scores = results["multiscale-5"].scores
    # Another model's scores (.727, .323, .157): near, not equal; see SCIENCE 3 for a trial's.
    assert scores.statistical == pytest.approx(0.727, abs=0.04)
    assert scores.dynamical == pytest.approx(0.323, abs=0.04)
    assert scores.predictive == pytest.approx(0.157, abs=0.05)


@pytest.mark.slow
def test_the_original_beats_the_reference_as_printed(results):
    assert results["fable-5.1"].scores.composite > results["multiscale-5"].scores.composite
