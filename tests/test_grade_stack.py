"""Does a stack of models get the grades that each of them would get alone?"""

import jax
import pytest

from enso_jax import grading
from enso_jax.grading import GradeResult, grade, grade_stack, structure, submission
from enso_jax.grading._stack import MOST_AT_ONCE, batch_size
from enso_jax.models import TermModel, built_in
from enso_jax.observations import nature_run
from enso_jax.protocol import Protocol

QUICK = Protocol(
    free_run_years=160, free_run_spin_up_years=10, smoother_members=40, forecast_members=10
)
COUNT = MOST_AT_ONCE + 3  # a full batch and one that is filled up


def near(model: TermModel, number: int) -> TermModel:
    """A checkpoint: the same structure, other numbers."""
    return jax.tree.map(lambda leaf: leaf * (1 + 0.01 * number), model)


@pytest.fixture(scope="module")
def models() -> list[TermModel]:
    model = built_in("fable-5.1-simplified").build()
    return [near(model, number) for number in range(COUNT)]


def abouts(models: list[TermModel]) -> list[grading.Submission]:
    return [submission(model, f"number {number}") for number, model in enumerate(models)]


def graded(models: list[TermModel], **options) -> list[GradeResult]:
    return list(grade_stack(models, abouts(models), nature_run(), QUICK, **options))


@pytest.fixture(scope="module")
def together(models) -> list[GradeResult]:
    return graded(models)


def assert_same(one: GradeResult, other: GradeResult) -> None:
    assert one.submission == other.submission
    for name, value in one.scores.model_dump().items():
        assert getattr(other.scores, name) == pytest.approx(value, abs=1e-9)
    assert one.detail.dynamical.components.keys() == other.detail.dynamical.components.keys()
    for name, estimate in one.detail.dynamical.components.items():
        assert other.detail.dynamical.components[name].mean == pytest.approx(
            estimate.mean, abs=1e-9
        )


@pytest.mark.parametrize("number", [0, MOST_AT_ONCE - 1, COUNT - 1])
def test_each_result_is_the_single_one(models, together, number):
    about = abouts(models)[number]
    assert_same(grade(models[number], about, nature_run(), QUICK).result, together[number])


def test_results_come_in_order_and_differ(together):
    assert [result.submission.name for result in together] == [
        f"number {number}" for number in range(COUNT)
    ]
    assert len({result.scores.composite for result in together}) == COUNT


def test_replicates_are_those_of_the_single_grade(models):
    one = grade(models[1], abouts(models)[1], nature_run(), QUICK, replicates=2, seed=7).result
    assert_same(one, graded(models[:2], replicates=2, seed=7)[1])


def test_a_model_that_blows_up_is_alone_in_it(linear, exploding):
    """Alone and in a stack its sentence names the same month, and the others' scores are theirs."""
    results = graded([linear.model, exploding, linear.model])
    assert [result.outcome for result in results] == ["scored", "invalid", "scored"]
    alone = grade(exploding, abouts([exploding])[0], nature_run(), QUICK).result
    assert results[1].reason == alone.reason
    assert results[0].scores == results[2].scores
    single = grade(linear.model, abouts([linear.model])[0], nature_run(), QUICK).result
    assert results[0].scores.composite == pytest.approx(single.scores.composite, abs=1e-9)


def test_batches_of_a_structure_share_three_programs(models, monkeypatch):
    monkeypatch.setattr(grading._runs, "make_room_for_programs", lambda: None)
    programs = [grading._runs._free_runs, grading._runs._smoothings, grading._runs._forecasts]
    graded(models)
    before = [program._cached._cache_size() for program in programs]
    graded([near(model, 2) for model in models], seed=3)
    assert [program._cached._cache_size() for program in programs] == before


def test_few_sizes_are_compiled():
    assert {batch_size(models) for models in range(1, 200)} == {1, 2, 4, 8}
    assert all(batch_size(models) >= min(models, MOST_AT_ONCE) for models in range(1, 200))


def test_a_structure_is_all_but_the_numbers(models):
    assert structure(models[0]) == structure(models[1])
    assert structure(models[0]) != structure(built_in("fable-5.1").build())
    longer = TermModel(models[0].terms[:-1], models[0].amplitudes)
    assert structure(models[0]) != structure(longer)


def test_models_of_two_structures_are_no_stack(models):
    other = built_in("fable-5.1").build()
    with pytest.raises(ValueError, match="one structure"):
        graded([models[0], other])


def test_results_come_a_batch_at_a_time(models, monkeypatch):
    """So that what has come can be kept while the rest is computed."""
    sizes = []
    run_stack = grading._stack.run_stack

    def counted(steps, *arguments, **options):
        sizes.append(len(steps))
        return run_stack(steps, *arguments, **options)

    monkeypatch.setattr(grading._stack, "run_stack", counted)
    results = grade_stack(models, abouts(models), nature_run(), QUICK)
    next(results)
    assert sizes[0] == MOST_AT_ONCE
    assert len(list(results)) == COUNT - 1
    assert sizes == [MOST_AT_ONCE, MOST_AT_ONCE]


def test_nothing_is_no_stack():
    assert graded([]) == []
