"""What is a model worth? From a Step and a record to a result and its evidence::

    experiments -> scores of each replicate -> means and standard errors

With a single replicate there is no standard error; a free run of 2300 years alone
leaves one of about 0.02 on S.
"""

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping
from typing import Final

import xarray as xr

from enso_jax import __version__
from enso_jax.grading._evidence import evidence
from enso_jax.grading._inputs import EXPERIMENTS
from enso_jax.grading._outcome import require_finite
from enso_jax.grading._replicates import score_replicates
from enso_jax.grading._result import (
    DimensionScores,
    GradeResult,
    Reason,
    Submission,
    UsedObservations,
    UsedProtocol,
)
from enso_jax.grading._runs import Experiments, run_experiments
from enso_jax.grading._summary import detail, dimension_errors, dimension_means
from enso_jax.models import Step
from enso_jax.observations import Record
from enso_jax.protocol import Protocol
from enso_jax.scores import observed_climate
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
    if replicates < 1:
        raise ValueError(f"replicates is {replicates}; a grade needs at least 1")
    if seed < 0:
        raise ValueError(f"seed is {seed}; it cannot be negative")
    protocol = protocol or Protocol()
    inputs = {
        "engine_version": __version__,
        "submission": submission,
        "protocol": UsedProtocol(digest=protocol.digest(), values=json.loads(protocol.to_json())),
        "observations": UsedObservations(
            name=record.name, kind=record.kind, digest=record.digest, stand_ins=record.stand_ins
        ),
        "seed": seed,
        "replicates": replicates,
    }
    try:
        experiments = run(record, protocol, seed=seed, replicates=replicates, done=done)
        require_finite(experiments, record)
    except InvalidSubmission as invalid:
        return Grade(_invalid(invalid, inputs), None)
    observed = observed_climate(record, protocol)
    scores = score_replicates(experiments, record, observed, protocol)
    result = GradeResult(
        outcome="scored",
        reason=None,
        scores=dimension_means(scores, protocol),
        standard_errors=dimension_errors(scores, protocol),
        detail=detail(scores, experiments, observed),
        **inputs,
    )
    climates = [replicate.climate for replicate in scores]
    dataset = evidence(experiments, climates, observed, record, protocol, result)
    done("scores")
    return Grade(result, dataset)


def _invalid(invalid: InvalidSubmission, inputs: Mapping[str, object]) -> GradeResult:
    return GradeResult(
        outcome="invalid",
        reason=Reason(category=invalid.category, message=invalid.message),
        scores=DimensionScores(statistical=0.0, dynamical=0.0, predictive=0.0, composite=0.0),
        standard_errors=None,
        detail=None,
        **inputs,  # pyright: ignore[reportArgumentType]
    )
