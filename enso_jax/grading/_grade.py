"""What is a model worth? From a Step and a record to a result and its evidence::

    experiments -> scores of each replicate -> means and standard errors

With a single replicate there is no standard error; a free run of 2300 years alone
leaves one of about 0.02 on S.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Final

import xarray as xr

from enso_jax.grading._evidence import evidence
from enso_jax.grading._inputs import EXPERIMENTS
from enso_jax.grading._result import GradeResult, Submission
from enso_jax.grading._runs import Experiments, run_experiments
from enso_jax.grading._terms import Terms
from enso_jax.models import Step
from enso_jax.observations import Record
from enso_jax.protocol import Protocol
from enso_jax.submissions import InvalidSubmission

#: Runs the experiments of a model: `run_experiments` and `run_on_host`, their first argument given.
Run = Callable[..., Experiments]

#: What a grade consists of, as `done` is told.
STAGES: Final = (*EXPERIMENTS, "scores")


@dataclasses.dataclass(frozen=True)
class Grade:
    """A result and what it rests on.

    Attributes:
        result: what goes into `scores.json`.
        evidence: what goes into `experiments.nc`; None where the model is invalid.
    """

    result: GradeResult
    evidence: xr.Dataset | None


def grade(
    step: Step,
    submission: Submission,
    record: Record,
    protocol: Protocol | None = None,
    *,
    seed: int = 0,
    replicates: int = 1,
    done: Callable[[str], None] = lambda stage: None,
) -> Grade:
    """Grades one model.

    Args:
        step: the model.
        submission: what the result says of it; `enso_jax.grading.submission` makes one.
        record: what it is compared with. Missing values (NaN) are left out of
            assimilation, scoring and forecast starts.
        protocol: the constants; the standard ones if None.
        seed: of all noise.
        replicates: how often everything is run, with independent noise.
        done: told each of `STAGES` as it ends.

    Raises:
        ValueError: if there is not at least one replicate, or the seed is negative.
        ObservationError: if the record is too short or too incomplete to grade on.
        PrecisionError: if JAX is not in the precision that the protocol asks for.
    """
    run = functools.partial(run_experiments, step)
    return grade_run(run, submission, record, protocol, seed=seed, replicates=replicates, done=done)


def grade_run(
    run: Run,
    submission: Submission,
    record: Record,
    protocol: Protocol | None = None,
    *,
    seed: int = 0,
    replicates: int = 1,
    done: Callable[[str], None] = lambda stage: None,
) -> Grade:
    """As `grade`, for a model that is known by how its experiments are run."""
    terms = Terms.of(record, protocol, seed, replicates)
    try:
        experiments = run(record, terms.protocol, seed=seed, replicates=replicates, done=done)
        result, scores = terms.scored(experiments, submission)
    except InvalidSubmission as invalid:
        return Grade(terms.invalid(invalid, submission), None)
    climates = [replicate.climate for replicate in scores]
    dataset = evidence(experiments, climates, terms.observed, record, terms.protocol, result)
    done("scores")
    return Grade(result, dataset)
