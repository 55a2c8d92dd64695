"""The child's side of the conversation: read a request, do it, answer.

Requests come and answers go through the pipes that were standard input and output.
Those two are then pointed elsewhere, so that what a submission prints is dropped.
"""

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import jax
import numpy as np

from enso_jax.submissions._contract import InvalidSubmission
from enso_jax.submissions.child import _checks as checks
from enso_jax.submissions.child._messages import decode, encode
from enso_jax.submissions.child._original import Original, load
from enso_jax.submissions.child._stepping import advance, step_once

_Answer = tuple[Mapping[str, Any], Sequence[np.ndarray]]


class Child:
    """A submission's process: what was loaded, and from what it draws."""

    def __init__(self, folder: Path, requests: "_Whole", answers: BinaryIO) -> None:
        self._folder = folder
        self._requests = requests
        self._answers = answers
        self._original: Original | None = None
        self._seed = 0
        self._rng: np.random.Generator | None = None
        self._advance_jax: Callable[..., np.ndarray] | None = None

    def serve(self) -> None:
        """Answers requests until one says that it is the last, or there are no more."""
        while True:
            request, arrays = decode(self._read)
            if request["do"] == "end":
                return
            if request["do"] == "session":
                self._session(request)
                continue
            try:
                answer, results = getattr(self, f"_{request['do']}")(request, arrays)
            except InvalidSubmission as found:
                answer, results = {"category": found.category, "message": found.message}, ()
            except Exception as error:
                # Ours, or something that the submission did to this process.
                place = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{Path(place.filename).name}, line {place.lineno}"
                text = f"its process failed: {type(error).__name__}: {error} ({where})."
                answer, results = {"category": "worker_died", "message": text}, ()
            self._send(answer, results)

    # --- Requests -------------------------------------------------------------------------

    def _load(self, request: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> _Answer:
        if request["keys"]:
            from enso_jax.submissions.child._keys import teach_jax_random
            from enso_jax.submissions.child._unrolled import teach_jax_loops

            teach_jax_random()
            teach_jax_loops()
        self._original = load(self._folder)
        # Importing somebody's module may have turned it off.
        jax.config.update("jax_enable_x64", True)
        return {"form": self._original.form}, ()

    def _check(self, request: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> _Answer:
        """Calls the step wherever it must work; tells how many normals a NumPy step takes."""
        original = self._loaded()
        if original.form == "jax":
            from enso_jax.submissions.child._jax_form import check_jax

            check_jax(original)
            return {"noise_size": None}, ()
        checks.check_calls(original)
        return {"noise_size": checks.normals_per_step(original, request["dt"])}, ()

    def _trace(self, request: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> _Answer:
        """The step as a program, or why it is none."""
        from enso_jax.submissions.child._jax_form import WAYS_BACK
        from enso_jax.submissions.child._to_program import NotCompiled, to_program

        try:
            program, noise_size = to_program(self._loaded(), request["dt"])
        except NotCompiled as reason:
            if any(way in str(reason) for way in WAYS_BACK):
                raise InvalidSubmission(
                    "isolation_violation",
                    f"step leads from JAX back to Python ({reason}): use JAX operations only.",
                ) from reason
            return {"reason": str(reason)}, ()
        return {"noise_size": noise_size}, (np.frombuffer(program, dtype=np.uint8),)

    def _try(self, request: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> _Answer:
        """One step of each of several ensembles, for the grader to compare."""
        states, noise = arrays
        stepped = [
            step_once(self._loaded(), *pair, request["t"], request["dt"], self._rng)
            for pair in zip(states, noise, strict=True)
        ]
        return {}, (np.stack(stepped),)

    def _advance(self, request: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> _Answer:
        original, (ensemble, noise) = self._loaded(), arrays
        if original.form == "numpy":
            return {}, (advance(original, ensemble, request["month"], noise, self._rng),)
        months, steps = noise.shape[:2]
        states = self._jax_stepper(original)(ensemble, request["month"], months, steps, self._seed)
        return {}, (states,)

    def _session(self, request: Mapping[str, Any]) -> None:
        """Answers the next requests with draws of their own seed.

        For a NumPy step in a copy of this process, which then ends: what a submission keeps
        from one experiment is gone before the next begins. A compiled JAX step keeps nothing,
        and JAX does not survive being copied.
        """
        self._seed = request["seed"]
        self._rng = np.random.default_rng(self._seed) if request["own_draws"] else None
        if self._loaded().form == "jax":
            self.serve()
            return
        pid = os.fork()
        if pid == 0:
            self.serve()
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        if status != 0:
            message = "the process ended while it stepped: step must return."
            self._send({"category": "worker_died", "message": message})

    # --- What they need -------------------------------------------------------------------

    def _loaded(self) -> Original:
        assert self._original is not None, "the submission is loaded first"
        return self._original

    def _jax_stepper(self, original: Original) -> Callable[..., np.ndarray]:
        if self._advance_jax is None:
            from enso_jax.submissions.child._jax_form import advance_jax

            self._advance_jax = advance_jax(original)
        return self._advance_jax

    def _read(self, size: int) -> bytes:
        content = self._requests.read(size)
        if len(content) < size:  # the grader is gone
            os._exit(0)
        return content

    def _send(self, answer: Mapping[str, Any], arrays: Sequence[np.ndarray] = ()) -> None:
        self._answers.write(encode(answer, arrays))
        self._answers.flush()


def main() -> None:
    requests = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    sys.dont_write_bytecode = True
    jax.config.update("jax_enable_x64", True)
    Child(Path.cwd(), _Whole(requests), answers).serve()


class _Whole:
    """A stream whose `read` waits for all that was asked for."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size and (part := self._stream.read(size - len(parts))):
            parts += part
        return bytes(parts)


if __name__ == "__main__":
    main()
