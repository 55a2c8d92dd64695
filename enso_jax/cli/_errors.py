"""What does an error look like to a user? One sentence, and an exit status."""

import os
import sys
import traceback
from typing import Final

INVALID: Final = 1
USAGE: Final = 2
GRADER_ERROR: Final = 3


def interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C led to it: what is then being ended may have errors of its own."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def report(error: Exception) -> int:
    """Prints an error as one sentence; gives the exit status that goes with it."""
    if type(error).__name__ == "Abort":
        return 130
    # What typer raises for a mistyped command, whichever of its versions is installed.
    if hasattr(error, "format_message"):
        sentence, status = error.format_message(), USAGE  # pyright: ignore[reportAttributeAccessIssue]
    elif isinstance(error, _slips()):
        sentence, status = str(error), USAGE
    else:
        sentence, status = _grader_error(error), GRADER_ERROR
    print(f"enso-jax: {sentence}", file=sys.stderr)
    return status


def _slips() -> tuple[type[Exception], ...]:
    """The errors that say what a user can mend."""
    from enso_jax.checkpoints import RunError, SchedulerError, StoreError
    from enso_jax.files import OutputError
    from enso_jax.leaderboard import UnknownSystemError, WeightsError
    from enso_jax.models import UnknownModelError
    from enso_jax.observations import ObservationError
    from enso_jax.own_process import DeviceError
    from enso_jax.simplify import CriteriaError, GroupError
    from enso_jax.submissions import IsolationUnavailable, NoSuchFolder

    return (
        DeviceError,
        OutputError,
        UnknownModelError,
        ObservationError,
        IsolationUnavailable,
        NoSuchFolder,
        RunError,
        SchedulerError,
        StoreError,
        UnknownSystemError,
        WeightsError,
        CriteriaError,
        GroupError,
    )


def _grader_error(error: Exception) -> str:
    if os.environ.get("ENSO_JAX_DEBUG"):
        traceback.print_exception(error)
    return (
        f"The grader failed, which says nothing of the model: {type(error).__name__}: {error} "
        "(set ENSO_JAX_DEBUG=1 to see where)."
    )
