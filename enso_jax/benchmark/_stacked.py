"""What does a checkpoint cost when many are graded together?"""

from typing import Final

import pydantic

from enso_jax.benchmark._measured import Count, Measured, Seconds
from enso_jax.benchmark._setting import Setting
from enso_jax.benchmark._stacks import grade_stacked
from enso_jax.benchmark._timing import seconds, shortest

_COUNTS: Final = (1, 2, 4, 8, 16, 32, 64)
_COUNTS_QUICK: Final = (1, 8)
# Of more than this many a single warm call is long enough to be timed once.
_REPEATED: Final = 8


class StackTime(Measured):
    """Whole grades of a stack, programs warm."""

    checkpoints: Count
    first_s: Seconds
    seconds: Seconds

    @pydantic.computed_field
    @property
    def per_checkpoint_s(self) -> float:
        return self.seconds / self.checkpoints


class Stacked(Measured):
    """The stacks, by size. `first_s` is with what has to be compiled or loaded."""

    stacks: tuple[StackTime, ...]


def stacked(setting: Setting) -> Stacked:
    """Times stacks of several sizes."""
    counts = _COUNTS_QUICK if setting.quick else _COUNTS
    return Stacked(stacks=tuple(_time(count, setting) for count in counts))


def _time(count: int, setting: Setting) -> StackTime:
    def call() -> None:
        grade_stacked(count, setting)

    first = seconds(call)
    again = shortest(call, 1 if setting.quick else 2) if count <= _REPEATED else seconds(call)
    return StackTime(checkpoints=count, first_s=first, seconds=again)
