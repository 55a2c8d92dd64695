"""How does the grader talk to a submission's process without trusting it?

One request at a time, each with a deadline. Whatever goes wrong on the other side - an
error, silence, an end, an answer that is none - becomes an outcome of the submission.
"""

import contextlib
import dataclasses
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from enso_jax.state import NAMES
from enso_jax.submissions._conduct import Tries, check_conduct
from enso_jax.submissions._contract import (
    CATEGORIES,
    Category,
    Form,
    InvalidSubmission,
    Patience,
    printable,
)
from enso_jax.submissions._folder import SubmissionFolder
from enso_jax.submissions._isolation import Child, ChildDied, ChildTimeout, Limits, start
from enso_jax.submissions._program import BadProgram, Program
from enso_jax.submissions._program_bytes import read_program
from enso_jax.submissions.child._messages import BadFrame, decode, encode

_MOST_MESSAGE: Final = 600
#: What passing a limit is; a sandbox's other limits are part of its isolation.
_CATEGORY_OF_LIMIT: Final[dict[str, Category]] = {"cpu": "timeout", "memory": "memory"}


@dataclasses.dataclass(frozen=True)
class Examination:
    """What a submission turned out to be.

    Attributes:
        form: numpy or jax.
        program: its step as a program, None if it is to be called instead.
        noise_size: normals of a step; None for a step that is called and draws its own.
        reason: why there is no program, None if there is one.
        isolation: in which sandbox it was looked at.
    """

    form: Form
    program: Program | None
    noise_size: int | None
    reason: str | None
    isolation: str


class Worker:
    """A submission's process, seen from outside."""

    def __init__(self, child: Child, patience: Patience) -> None:
        self._child = child
        self._patience = patience

    def load(self, *, keys: bool) -> Form:
        """Imports the submission; with `keys`, so that JAX draws can be traced."""
        answer, _ = self._request(
            {"do": "load", "keys": keys},
            (),
            self._patience.start_s + self._patience.import_s,
            "its import",
        )
        return "jax" if answer.get("form") == "jax" else "numpy"

    def check_calls(self, dt: float) -> int | None:
        """Calls its step in all ways; gives the normals that it takes, if that is a number."""
        answer, _ = self._request(
            {"do": "check", "dt": dt}, (), self._patience.check_s, "its checks"
        )
        return _count(answer.get("noise_size"))

    def trace(self, dt: float) -> tuple[Program, int] | str:
        """Its program and q, or why there is none."""
        answer, arrays = self._request(
            {"do": "trace", "dt": dt}, (), self._patience.trace_s, "tracing its step"
        )
        noise_size = _count(answer.get("noise_size"))
        if noise_size is None or len(arrays) != 1:
            return printable(str(answer.get("reason"))[:_MOST_MESSAGE])
        try:
            program = read_program(arrays[0].tobytes())
            five = ((len(NAMES),), "float64")
            program.require_signature(
                inputs=(five, ((), "float64"), ((noise_size,), "float64")), outputs=(five,)
            )
        except BadProgram as reason:
            return printable(f"its program is refused: {reason}"[:_MOST_MESSAGE])
        return program, noise_size

    def check_conduct(self, dt: float, noise_size: int | None) -> None:
        """Whether a NumPy step remembers, and whether its members influence each other."""

        def tries(states: np.ndarray, t: float, noise: np.ndarray) -> np.ndarray:
            request = {"do": "try", "t": t, "dt": dt}
            return self._ensembles(request, states, noise, states.shape, self._patience.check_s)

        def in_new_session(run: Callable[[Tries], np.ndarray]) -> np.ndarray:
            with self.session(seed=0, noise_size=noise_size, calendar=0.0):
                return run(tries)

        check_conduct(in_new_session, noise_size)

    @contextlib.contextmanager
    def session(self, *, seed: int, noise_size: int | None, calendar: float) -> Iterator["Session"]:
        """A part of the run after which the submission has forgotten what it saw.

        Args:
            seed: of its own draws, where it makes any.
            noise_size: the normals of a step, None for one that makes draws of its own.
            calendar: model time on 1 January.
        """
        own_draws = noise_size is None
        self._tell({"do": "session", "seed": seed, "own_draws": own_draws})
        yield Session(self, noise_size, calendar)
        self._tell({"do": "end"})

    def advance(self, ensemble: np.ndarray, month: float, noise: np.ndarray) -> np.ndarray:
        """As `Session.__call__`."""
        request, shape = {"do": "advance", "month": month}, (len(noise), *ensemble.shape)
        return self._ensembles(request, ensemble, noise, shape, self._patience.advance_s)

    def _ensembles(
        self,
        request: Mapping[str, Any],
        states: np.ndarray,
        noise: np.ndarray,
        shape: tuple[int, ...],
        seconds: float,
    ) -> np.ndarray:
        """States of `shape` that the submission makes of `states`."""
        _, arrays = self._request(request, (states, noise), seconds, "stepping")
        if len(arrays) != 1 or arrays[0].shape != shape or arrays[0].dtype != np.float64:
            raise InvalidSubmission(
                "worker_died", "its process answered with something that is not an ensemble."
            )
        return arrays[0]

    def _tell(self, request: Mapping[str, Any]) -> None:
        deadline = time.monotonic() + self._patience.advance_s
        with self._outcome("stepping"):
            self._child.send(encode(request), deadline)

    def _request(
        self,
        request: Mapping[str, Any],
        arrays: Sequence[np.ndarray],
        seconds: float,
        what: str,
    ) -> tuple[dict[str, Any], list[np.ndarray]]:
        deadline = time.monotonic() + seconds
        with self._outcome(what):
            self._child.send(encode(request, arrays), deadline)
            answer, results = decode(lambda size: self._child.receive(size, deadline))
        if "category" in answer:
            category, message = answer["category"], str(answer.get("message"))[:_MOST_MESSAGE]
            raise InvalidSubmission(category if category in CATEGORIES else "worker_died", message)
        return answer, results

    @contextlib.contextmanager
    def _outcome(self, what: str) -> Iterator[None]:
        try:
            yield
        except ChildTimeout as error:
            raise InvalidSubmission("timeout", f"{what} took too long: make it faster.") from error
        except ChildDied as error:
            raise InvalidSubmission(_cause(error), f"during {what}, {error}.") from error
        except BadFrame as error:
            raise InvalidSubmission(
                "worker_died", f"its process answered {what} with {error}: leave its pipes alone."
            ) from error


@dataclasses.dataclass(frozen=True)
class Session:
    """An `enso_jax.experiments.Advance` whose steps are the submission's."""

    worker: Worker
    noise_size: int | None
    calendar: float

    def __call__(self, ensemble: np.ndarray, month: float, noise: np.ndarray) -> np.ndarray:
        return self.worker.advance(ensemble, month + self.calendar, noise)


@contextlib.contextmanager
def open_worker(
    folder: SubmissionFolder, isolation: str, patience: Patience, wall_s: float
) -> Iterator[Worker]:
    """A process in a sandbox with a copy of the submission; dead when the block ends."""
    with tempfile.TemporaryDirectory(prefix="enso-jax-") as scratch:
        place = Path(scratch) / "submission"
        place.mkdir()
        folder.copy_to(place)
        # -P: the working folder is the submission's, and no place to import from.
        program = (sys.executable, "-P", "-m", "enso_jax.submissions.child")
        limits = Limits(wall_s=wall_s, cpu_s=wall_s)
        with start(program, place, (), limits, isolation) as child:
            yield Worker(child, patience)


def examine(folder: SubmissionFolder, dt: float, isolation: str, patience: Patience) -> Examination:
    """Loads, checks and traces a submission.

    Raises:
        InvalidSubmission: if it breaks the contract.
    """
    wall_s = patience.start_s + patience.import_s + patience.check_s + patience.trace_s
    with open_worker(folder, isolation, patience, wall_s) as worker:
        form = worker.load(keys=True)
        noise_size = worker.check_calls(dt)
        if form == "numpy":
            worker.check_conduct(dt, noise_size)
        traced = worker.trace(dt)
    if isinstance(traced, str):
        return Examination(form, None, noise_size, traced, isolation)
    return Examination(form, *traced, None, isolation)


def _cause(death: ChildDied) -> Category:
    """Which category the end of a process is."""
    if death.limit is not None:
        return _CATEGORY_OF_LIMIT.get(death.limit, "isolation_violation")
    # The kernel kills so when memory is short.
    return "memory" if death.signal == signal.SIGKILL else "worker_died"


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= 100_000 else None
