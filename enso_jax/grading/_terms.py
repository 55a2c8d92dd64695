"""On what terms is a model graded, and what do its experiments then say of it?"""

import dataclasses
import json
from typing import Any

from enso_jax import __version__
from enso_jax.grading._outcome import require_finite
from enso_jax.grading._replicates import ReplicateScores, score_replicates
from enso_jax.grading._result import (
    DimensionScores,
    GradeResult,
    Reason,
    Submission,
    UsedObservations,
    UsedProtocol,
)
from enso_jax.grading._runs import Experiments
from enso_jax.grading._summary import (
    detail,
    dimension_errors,
    dimension_means,
    replicate_scores,
)
from enso_jax.observations import Record
from enso_jax.protocol import Protocol
from enso_jax.scores import Climate, observed_climate
from enso_jax.submissions import InvalidSubmission


@dataclasses.dataclass(frozen=True)
class Terms:
    """What all grades that may be compared have in common.

    Attributes:
        record: what models are compared with.
        protocol: the constants.
        seed: of all noise.
        replicates: how often everything is run, with independent noise.
        observed: the record's climate.
    """

    record: Record
    protocol: Protocol
    seed: int
    replicates: int
    observed: Climate

    @staticmethod
    def of(record: Record, protocol: Protocol | None, seed: int, replicates: int) -> "Terms":
        """The terms; the standard protocol if None.

        Raises:
            ValueError: if there is not at least one replicate, or the seed is negative.
        """
        if replicates < 1:
            raise ValueError(f"replicates is {replicates}; a grade needs at least 1")
        if seed < 0:
            raise ValueError(f"seed is {seed}; it cannot be negative")
        protocol = protocol or Protocol()
        return Terms(record, protocol, seed, replicates, observed_climate(record, protocol))

    def scored(
        self, experiments: Experiments, submission: Submission
    ) -> tuple[GradeResult, list[ReplicateScores]]:
        """The result of a model, and the scores of each replicate.

        Raises:
            InvalidSubmission: if a run did not stay finite.
        """
        require_finite(experiments, self.record)
        scores = score_replicates(experiments, self.record, self.observed, self.protocol)
        result = GradeResult(
            outcome="scored",
            reason=None,
            scores=dimension_means(scores, self.protocol),
            standard_errors=dimension_errors(scores, self.protocol),
            replicate_scores=replicate_scores(scores, self.protocol),
            detail=detail(scores, experiments, self.observed),
            **self._stated(submission),
        )
        return result, scores

    def invalid(self, fault: InvalidSubmission, submission: Submission) -> GradeResult:
        """The result of a model that breaks the contract."""
        return GradeResult(
            outcome="invalid",
            reason=Reason(category=fault.category, message=fault.message),
            scores=DimensionScores(statistical=0.0, dynamical=0.0, predictive=0.0, composite=0.0),
            standard_errors=None,
            replicate_scores=(),
            detail=None,
            **self._stated(submission),
        )

    def _stated(self, submission: Submission) -> dict[str, Any]:
        """What every result says."""
        record, protocol = self.record, self.protocol
        return {
            "engine_version": __version__,
            "submission": submission,
            "protocol": UsedProtocol(
                digest=protocol.digest(), values=json.loads(protocol.to_json())
            ),
            "observations": UsedObservations(
                name=record.name, kind=record.kind, digest=record.digest, stand_ins=record.stand_ins
            ),
            "seed": self.seed,
            "replicates": self.replicates,
        }
