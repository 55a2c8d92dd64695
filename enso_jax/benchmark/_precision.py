"""What does the precision cost, and what does it change?

float32 and mixed draw the same normals, so their scores differ by rounding alone. float64
draws others, so its scores differ by the sampling error as well, which replicates measure.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Final

from enso_jax.benchmark._measured import Count, Measured, Number, Seconds
from enso_jax.benchmark._setting import MODEL, Setting
from enso_jax.benchmark._timing import shortest
from enso_jax.grading import GradeResult, grade, submission
from enso_jax.protocol import Precision as Type
from enso_jax.protocol import Protocol

#: State and normals.
_TYPES: Final[dict[str, tuple[Type, Type]]] = {
    "mixed": ("float64", "float32"),
    "float32": ("float32", "float32"),
    "float64": ("float64", "float64"),
}


class Scores(Measured):
    """Of the three dimensions and their composite: values, differences or errors."""

    statistical: Number
    dynamical: Number
    predictive: Number
    composite: Number


class PrecisionTime(Measured):
    """A whole grade, programs warm, and how its scores differ from those of mixed."""

    precision: str
    seconds: Seconds
    scores: Scores
    minus_mixed: Scores


class Precision(Measured):
    """The precisions, and the standard error of one replicate's scores, from `replicates`."""

    precisions: tuple[PrecisionTime, ...]
    sampling_error: Scores
    replicates: Count


def precision(setting: Setting) -> Precision:
    """Grades the same model with the same seed in each precision."""
    graded = {name: _grade(setting, name) for name in _TYPES}
    times = {name: shortest(call, 1 if setting.quick else 3) for name, call in graded.items()}
    scores = {name: _scores(call()) for name, call in graded.items()}
    replicates = 2 if setting.quick else 8
    return Precision(
        precisions=tuple(
            PrecisionTime(
                precision=name,
                seconds=times[name],
                scores=scores[name],
                minus_mixed=_difference(scores[name], scores["mixed"]),
            )
            for name in _TYPES
        ),
        sampling_error=_error_of_one(_grade(setting, "mixed", replicates)(), replicates),
        replicates=replicates,
    )


def _grade(setting: Setting, name: str, replicates: int = 1) -> Callable[[], GradeResult]:
    state, noise = _TYPES[name]
    protocol: Protocol = dataclasses.replace(setting.protocol, state_dtype=state, noise_dtype=noise)
    model = setting.model
    about = submission(model, MODEL, form="built-in")
    return lambda: grade(model, about, setting.record, protocol, replicates=replicates).result


def _scores(result: GradeResult) -> Scores:
    return Scores(**result.scores.model_dump())


def _difference(one: Scores, other: Scores) -> Scores:
    reference = other.model_dump()
    return Scores(**{name: value - reference[name] for name, value in one.model_dump().items()})


def _error_of_one(result: GradeResult, replicates: int) -> Scores:
    assert result.standard_errors is not None, "several replicates have standard errors"
    errors = result.standard_errors.model_dump()
    return Scores(**{name: error * math.sqrt(replicates) for name, error in errors.items()})
