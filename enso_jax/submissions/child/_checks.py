"""Does a NumPy submission keep the contract when it is called?

It is called as the experiments will call it, and beyond: other numbers of members,
times, steps and states.
"""

import itertools
from typing import Final

import numpy as np

from enso_jax.submissions._contract import (
    LONGEST_T_MONTHS,
    TYPICAL_STATE,
    InvalidSubmission,
)
from enso_jax.submissions.child._draws import ArraySource, NoiseGenerator, SharedDraw
from enso_jax.submissions.child._errors import CannotTrace
from enso_jax.submissions.child._original import VARIABLES, Original, call

_MEMBERS: Final = 7
_STEPS: Final = (1.0 / 30.0, 0.1, 1.0)
_TIMES: Final = (0.0, 0.5, 5.7, 11.99, 359.3, LONGEST_T_MONTHS - 1.0)
_SIZES: Final = (0.0, 1.0, 2.0)
#: Normals that a step may take at most.
_MOST_NORMALS: Final = 4096
#: As many members as no lookup by number foresees.
_CROWD: Final = 2000


def states(members: int, size: float = 1.0, seed: int = 0) -> np.ndarray:
    """Ensembles (N, 5) about as large as observed states."""
    rng = np.random.default_rng(seed)
    return size * np.array(TYPICAL_STATE) * rng.standard_normal((members, VARIABLES))


def check_calls(original: Original) -> None:
    """The step runs, and gives finite arrays of the right kind, wherever it must be defined."""
    for dt, t, members, size in itertools.product(_STEPS, _TIMES, (1, _MEMBERS), _SIZES):
        _check_call(original, dt, t, members, size)
    _check_call(original, _STEPS[0], _TIMES[1], _CROWD, _SIZES[1])


def _check_call(original: Original, dt: float, t: float, members: int, size: float) -> None:
    state = states(members, size)
    new = call(original, state, t, dt, np.random.default_rng(1))
    if not np.isfinite(new).all():
        raise InvalidSubmission(
            "non_finite",
            f"step gave a value that is not finite at t = {t:.6g}, dt = {dt:.4g} from the "
            f"ordinary state {(np.round(state[0], 2) + 0.0).tolist()}.",
        )


def normals_per_step(original: Original, dt: float) -> int | None:
    """How many normals a step takes for each member; None if that is not a fixed number.

    It is not where a draw has no counterpart among normals, or where members share one.
    """
    try:
        counts = {
            _consumed(original, states(members, size), t, dt)
            for members in (1, _MEMBERS)
            for size in (0.0, 1.0, 3.0)
            for t in (0.5, 6.5)
        }
    except (CannotTrace, SharedDraw, ValueError):
        return None
    return counts.pop() if len(counts) == 1 else None


def _consumed(original: Original, state: np.ndarray, t: float, dt: float) -> int:
    noise = np.random.default_rng(7).standard_normal((_MOST_NORMALS, len(state)))
    source = ArraySource(noise)
    original.step(np.array(state), t, dt, NoiseGenerator(source))
    return source.used
