"""What is said of one graded submission, and how does it lie on disk?

`scores.json`: one `GradeResult`. Never NaN; a score that is not there is null and
says why. A file with another `schema_version` is refused; an older one, once there
is one, is upgraded by a function and never rewritten on read.
"""

from pathlib import Path
from typing import Annotated, Final, Literal

import pydantic

from enso_jax.submissions import Category

SCHEMA_VERSION: Final = 2

Number = Annotated[float, pydantic.Field(allow_inf_nan=False)]


class _Frozen(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class Submission(_Frozen):
    """What was graded.

    `form` is built-in for a model of the library, python for a `Step` that was made in
    Python, numpy or jax for a folder of someone's code; null if it did not come to that.
    `engine` is compiled, or host where the submission's own code made every step;
    `not_compiled` then says why. `isolation` is the sandbox in which its code ran, null if
    none of it did. `digest` is of structure and parameters, or of the files.
    """

    name: str
    form: Literal["built-in", "python", "numpy", "jax"] | None
    engine: Literal["compiled", "host"] | None
    digest: str | None
    isolation: str | None = None
    not_compiled: str | None = None


class UsedProtocol(_Frozen):
    """The constants, and the digest by which two results may be compared."""

    digest: str
    values: dict[str, object]


class UsedObservations(_Frozen):
    """The record: `stand_ins` counts the values in use that were not measured."""

    name: str
    kind: Literal["measured", "simulated"]
    digest: str
    stand_ins: int


class Reason(_Frozen):
    """Why a submission is invalid: a category, and a sentence."""

    category: Category
    message: str


class DimensionScores(_Frozen):
    """The three dimensions and their composite."""

    statistical: Number
    dynamical: Number
    predictive: Number
    composite: Number


class Estimate(_Frozen):
    """A mean over replicates and its standard error, null for one replicate."""

    mean: Number
    standard_error: Number | None


class EventCount(_Frozen):
    """Events of one type: simulated mean and 95% range over segments, and observed."""

    mean: Number
    low: Number
    high: Number
    observed: int


class Skewness(_Frozen):
    """Of an index's months: simulated, its standard error, and observed. It is not scored."""

    mean: Number
    standard_error: Number | None
    observed: Number


class StatisticalDetail(_Frozen):
    """The five groups, the components below them, the counts of events and the asymmetry."""

    groups: dict[str, Estimate]
    components: dict[str, Estimate]
    event_counts: dict[str, EventCount]
    skewness: dict[str, Skewness]


class DynamicalDetail(_Frozen):
    """Efficiency of each reconstruction, and how well the smoother knows its own errors.

    `innovation_variance` is near 1 where the spread of the ensemble and the observation
    error together explain the departures of what was assimilated.
    """

    components: dict[str, Estimate]
    innovation_variance: dict[str, Estimate]


class PredictiveDetail(_Frozen):
    """Skills, the curves against lead (null where undefined), and how many starts there were."""

    components: dict[str, Estimate]
    by_lead: dict[str, list[Number | None]]
    starts: int


class Detail(_Frozen):
    """Everything below the dimension scores."""

    statistical: StatisticalDetail
    dynamical: DynamicalDetail
    predictive: PredictiveDetail


class GradeResult(_Frozen):
    """The outcome of one grade.

    `replicate_scores` has the scores of each replicate, in order: replicate r of a seed has the
    same noise for every model, so two models are compared replicate by replicate. Where the
    submission is invalid it is empty, `detail` is null, and the scores are 0.
    """

    schema_version: Literal[2] = SCHEMA_VERSION
    engine_version: str
    submission: Submission
    protocol: UsedProtocol
    observations: UsedObservations
    seed: int
    replicates: int
    outcome: Literal["scored", "invalid"]
    reason: Reason | None
    scores: DimensionScores
    standard_errors: DimensionScores | None
    replicate_scores: tuple[DimensionScores, ...]
    detail: Detail | None

    def to_json(self) -> str:
        """The text of `scores.json`."""
        return self.model_dump_json(indent=2) + "\n"


class ResultError(ValueError):
    """A file is not a result that this version reads. Its text is one sentence."""


def read_result(path: Path) -> GradeResult:
    """The result in a `scores.json`.

    Raises:
        ResultError: if the file is absent, not a result, or of another schema version.
    """
    try:
        return GradeResult.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ResultError(f"{path} cannot be read: {error.strerror}.") from error
    except pydantic.ValidationError as error:
        raise ResultError(
            f"{path} is not a result of schema version {SCHEMA_VERSION}: {first_fault(error)}; "
            "grade the submission again."
        ) from error


def first_fault(error: pydantic.ValidationError) -> str:
    """Where the first thing that is wrong is, and what, as a part of a sentence."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"])) or "the file"
    return f"at {place}, {first['msg'][0].lower()}{first['msg'][1:]}"
