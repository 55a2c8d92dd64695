"""Does a NumPy step remember nothing, and keep its members apart?

Asked from outside: the grader chooses states and noise, has them stepped in the
submission's process and compares the answers itself, so that nothing done in there to
the tools of comparison helps.

Where a step takes normals, members together must move as each does alone. Where it
makes draws of its own, which members share in one stream, that is true in distribution
only: companions must not change how a member moves, and the mean of an ensemble must
scatter as that of independent members does.
"""

from collections.abc import Callable
from typing import Final, Protocol

import numpy as np

from enso_jax.submissions._contract import TYPICAL_STATE, InvalidSubmission

_TYPICAL: Final = np.array(TYPICAL_STATE)[:, None]
_MEMBERS: Final = 7
#: As many as the experiments have.
_CROWDS: Final = (_MEMBERS, 50, 500)
#: Float32 inside a submission rounds otherwise in an array of another size.
_ROUNDING: Final = 1e-5
#: Ensembles, and members in each, of the comparisons by distribution.
_ENSEMBLES: Final = 400
_CROWD: Final = 20
#: Chance passes so many standard errors once in a billion.
_DEVIATIONS: Final = 6.0


class Tries(Protocol):
    """Steps ensembles of a session's submission, each on its own."""

    def __call__(self, states: np.ndarray, t: float, noise: np.ndarray) -> np.ndarray:
        """``(ensemble, 5, N)`` one step after `states`; noise is ``(ensemble, q, N)``."""
        ...


def check_conduct(
    in_new_session: Callable[[Callable[[Tries], np.ndarray]], np.ndarray], noise_size: int | None
) -> None:
    """Checks a step for memory and for members that influence each other.

    Args:
        in_new_session: gives the result of a function of the `Tries` of a new session; the
            draws of every session begin alike.
        noise_size: the normals of a step; None for one that makes draws of its own.

    Raises:
        InvalidSubmission: `nondeterminism` or `member_dependence`.
    """
    rng = np.random.default_rng()  # not to be foreseen by a submission
    _check_memory(in_new_session, rng, noise_size)
    if noise_size is None:
        in_new_session(lambda tries: _check_by_distribution(tries, rng))
    else:
        in_new_session(lambda tries: _check_alone(tries, rng, noise_size))


def _check_memory(
    in_new_session: Callable, rng: np.random.Generator, noise_size: int | None
) -> None:
    """The same states and draws give the same result, in a new session and after other calls."""
    q = noise_size or 0
    states, others = _states(rng, 2, _MEMBERS)[:, None]
    noise, other_noise = rng.standard_normal((2, 1, q, _MEMBERS))

    times = _times(rng)

    def run(tries: Tries) -> np.ndarray:
        return np.stack([tries(states, t, noise) for t in times])

    def run_after_others(tries: Tries) -> np.ndarray:
        results = []
        for t in times:
            if noise_size is not None:  # other calls would use up draws of its own
                tries(others, t + 1.0, other_noise)
                tries(states, t, other_noise)
            results.append(tries(states, t, noise))
        return np.stack(results)

    if not np.array_equal(in_new_session(run), in_new_session(run_after_others)):
        raise InvalidSubmission(
            "nondeterminism",
            "step gave two results for the same arguments and the same draws: it must not depend "
            "on earlier calls, on clocks or on a generator of its own.",
        )


def _check_alone(tries: Tries, rng: np.random.Generator, q: int) -> np.ndarray:
    """Members among few and among many move as each does alone."""
    states, noise = _states(rng, 1, max(_CROWDS)), rng.standard_normal((1, q, max(_CROWDS)))
    for t in _times(rng):
        alone = np.concatenate(
            [tries(states[..., [i]], t, noise[..., [i]]) for i in range(_MEMBERS)], axis=-1
        )
        for members in _CROWDS:
            together = tries(states[..., :members], t, noise[..., :members])[..., :_MEMBERS]
            if not (np.abs(together - alone) <= _ROUNDING * (_TYPICAL + np.abs(alone))).all():
                raise _dependence()
    return states


def _check_by_distribution(tries: Tries, rng: np.random.Generator) -> np.ndarray:
    member, t = _states(rng, 1, 1), _times(rng)[0]
    calm, wild = (
        _moves(tries, t, member, size * _states(rng, _ENSEMBLES, 2 * _CROWD)) for size in (0.1, 3.0)
    )
    for moment in (_first, _second):
        means = [moment(moves).mean(axis=-1) for moves in (calm, wild)]
        error = np.sqrt(sum(mean.var(axis=0) for mean in means) / _ENSEMBLES)
        difference = np.abs(means[0].mean(axis=0) - means[1].mean(axis=0))
        if (difference > _DEVIATIONS * error + 1e-9 * _TYPICAL[:, 0]).any():
            raise _dependence()
    # Of independent members the mean has an N-th of the variance.
    ratio = _CROWD * calm.mean(axis=-1).var(axis=0) / np.maximum(calm.var(axis=(0, 2)), 1e-300)
    random = calm.std(axis=(0, 2)) > 1e-9 * _TYPICAL[:, 0]
    error = np.sqrt(2.0 / _ENSEMBLES)
    if (np.abs(np.log(np.maximum(ratio[random], 1e-9))) > _DEVIATIONS * error).any():
        raise _dependence()
    return calm


def _moves(tries: Tries, t: float, member: np.ndarray, companions: np.ndarray) -> np.ndarray:
    """New states ``(ensemble, 5, N)`` of copies of `member`, every other one of an ensemble."""
    states = companions.copy()
    states[..., ::2] = member
    noise = np.zeros((len(states), 0, states.shape[-1]))
    return tries(states, t, noise)[..., ::2]


def _first(moves: np.ndarray) -> np.ndarray:
    return moves


def _second(moves: np.ndarray) -> np.ndarray:
    return (moves - moves.mean(axis=(0, 2), keepdims=True)) ** 2


def _times(rng: np.random.Generator) -> list[float]:
    """Times at which the step was not called before."""
    return rng.uniform(400.0, 20_000.0, 3).tolist()


def _states(rng: np.random.Generator, ensembles: int, members: int) -> np.ndarray:
    return _TYPICAL * rng.standard_normal((ensembles, len(_TYPICAL), members))


def _dependence() -> InvalidSubmission:
    return InvalidSubmission(
        "member_dependence",
        "a member's new state depends on the other members or on their number: step must treat "
        "every row of state on its own.",
    )
