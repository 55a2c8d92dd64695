"""Did all of a model's runs stay finite? If not, which one failed, and when?"""

import numpy as np

from enso_jax.experiments import FINITE
from enso_jax.grading._runs import Experiments
from enso_jax.observations import Record
from enso_jax.scores import TESTS
from enso_jax.state import MONTHS_PER_YEAR, month_label
from enso_jax.submissions import InvalidSubmission


def require_finite(experiments: Experiments, record: Record) -> None:
    """Raises `InvalidSubmission` with what went wrong first, in one sentence with its month.

    A model is invalid if any replicate of any experiment fails: one that blows up now and then
    has no long-run statistics.
    """
    for describe in (_free_run_failure, _smoother_failure, _forecast_failure):
        sentence = describe(experiments, record)
        if sentence is not None:
            raise InvalidSubmission(
                "non_finite",
                f"{sentence}: the model is unstable, or steps to something that is not a number.",
            )


def _free_run_failure(experiments: Experiments, record: Record) -> str | None:
    status = np.asarray(experiments.free_run.status)
    if (failed := _first(status)) is None:
        return None
    year, month = divmod(int(status[failed]), MONTHS_PER_YEAR)
    return (
        f"The free run{_replicate(failed, status)} is not finite from its month "
        f"{int(status[failed]) + 1} on (month {month + 1} of year {year + 1})"
    )


def _smoother_failure(experiments: Experiments, record: Record) -> str | None:
    status = np.asarray(experiments.smoothing.status)
    if (failed := _first(status)) is None:
        return None
    month = month_label(record.development.first_month + int(status[failed]))
    test = tuple(TESTS)[failed[1]]
    return f"The smoother of test {test}{_replicate(failed, status)} is not finite from {month} on"


def _forecast_failure(experiments: Experiments, record: Record) -> str | None:
    status = np.asarray(experiments.forecasts.status)
    if (failed := _first(status)) is None:
        return None
    start = record.held_out.first_month + failed[1]
    lead = int(status[failed]) + 1
    return (
        f"The forecast from {month_label(start)}{_replicate(failed, status)} is not finite from "
        f"{month_label(start + lead)} on (lead {lead} months)"
    )


def _first(status: np.ndarray) -> tuple[int, ...] | None:
    """Where the status first says that a run failed."""
    failed = np.argwhere(status != FINITE)
    return tuple(map(int, failed[0])) if len(failed) else None


def _replicate(failed: tuple[int, ...], status: np.ndarray) -> str:
    return f" of replicate {failed[0] + 1}" if len(status) > 1 else ""
