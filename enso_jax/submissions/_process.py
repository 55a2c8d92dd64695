"""How does the grader hold a child that it does not trust?

By two pipes for messages, with a time by which each must come or go; and by the guard,
whose end means that nothing of the child is left.
"""

import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, Self

from enso_jax.submissions._guard import TAIL_BYTES, remove
from enso_jax.submissions._limits import Limits

#: For the guard to end a child and say how it went; after that it is done without the guard.
_GUARD_S: Final = 15.0
#: For the guard to notice that the time is up, before the grader acts on its own.
_GRACE_S: Final = 2.0
#: For the sandbox to stand, on a machine that is busy.
_START_S: Final = 60.0
_MOST_AT_ONCE: Final = 1 << 20
#: Ensembles cross in large pieces; a pipe holds 64 KiB unless told otherwise.
_PIPE_BYTES: Final = 1 << 20
_MOST_REPORTED: Final = 4096


class ChildTimeout(Exception):  # noqa: N818, the two are ends of a child rather than faults
    """The child did not do in time what was waited for, and has been ended."""


class ChildDied(Exception):  # noqa: N818
    """The child has ended, or closed its messages and was ended.

    Attributes:
        returncode: its exit status; None if it was ended by a signal.
        signal: that signal; under bubblewrap an exit status of 128 + n looks the same.
        stderr_tail: the end of its standard error.
        limit: for passing which of its limits it was ended: ``cpu``, ``memory``,
            ``processes``, ``files``, ``output``; None if not for that, or not known.
    """

    def __init__(
        self, returncode: int | None, signal: int | None, stderr_tail: str, limit: str | None
    ) -> None:
        super().__init__(returncode, signal, stderr_tail, limit)
        self.returncode = returncode
        self.signal = signal
        self.stderr_tail = stderr_tail
        self.limit = limit

    def __str__(self) -> str:
        if self.limit is not None:
            return f"the process passed its limit of {self.limit} and was ended"
        if self.signal is not None:
            return f"the process was ended by {signal.Signals(self.signal).name}"
        return f"the process ended with exit status {self.returncode}"


#: Those of this process that have not been ended.
_CHILDREN: Final[set["Child"]] = set()


def end_sandboxes() -> None:
    """Ends every sandbox of this process, whichever thread waits for it.

    For an interruption: what a submission was doing is lost, and no outcome of it.
    """
    for child in list(_CHILDREN):
        child.interrupt()


class Child:
    """A program in a sandbox. Leaving its context ends it, with all that it started.

    Attributes:
        isolation: what keeps it in.
        isolation_notes: what that does not enforce, each in a few words.
        scratch: the only folder that it can write to.
        pid: of the process outside of the sandbox that stands for it.
    """

    def __init__(
        self,
        guard: subprocess.Popen[bytes],
        report: int,
        tail: int,
        limits: Limits,
        scratch: Path,
        remove: list[Path],
        isolation: str,
        isolation_notes: tuple[str, ...],
    ) -> None:
        self.isolation = isolation
        self.isolation_notes = isolation_notes
        self.scratch = scratch
        self.pid: int | None = None
        self._guard = guard
        self._report = report
        self._tail = tail
        self._last_moment = time.monotonic() + limits.wall_s + _GRACE_S
        self._remove = remove
        self._end: dict[str, Any] | None = None
        self._reports: list[dict[str, Any]] = []
        self._final_tail: str | None = None
        _CHILDREN.add(self)
        assert guard.stdin is not None
        assert guard.stdout is not None
        self._requests, self._answers = guard.stdin.fileno(), guard.stdout.fileno()
        for pipe in (self._requests, self._answers):
            os.set_blocking(pipe, False)
            with contextlib.suppress(OSError):  # the user's share of larger pipes is used up
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()

    # --- Messages -------------------------------------------------------------------------

    def send(self, content: bytes, deadline: float | None = None) -> None:
        """Writes to the child's standard input; `deadline` on the clock of `time.monotonic`.

        Raises:
            ChildTimeout: if it has not read all by then.
            ChildDied: if it does not read any more.
        """
        rest = memoryview(content)
        while rest:
            self._wait_for(self._requests, select.POLLOUT, deadline)
            with contextlib.suppress(BlockingIOError):
                try:
                    rest = rest[os.write(self._requests, rest[:_MOST_AT_ONCE]) :]
                except BrokenPipeError:
                    self._raise_ended()

    def receive(self, size: int, deadline: float | None = None) -> bytes:
        """Reads `size` bytes from the child's standard output.

        Raises:
            ChildTimeout: if they have not come by `deadline`.
            ChildDied: if they cannot come any more.
        """
        content = bytearray()
        while len(content) < size:
            self._wait_for(self._answers, select.POLLIN, deadline)
            with contextlib.suppress(BlockingIOError):
                part = os.read(self._answers, min(size - len(content), _MOST_AT_ONCE))
                if not part:
                    self._raise_ended()
                content += part
        return bytes(content)

    def _wait_for(self, descriptor: int, event: int, deadline: float | None) -> None:
        """Until the pipe can be used. A message that comes too late is not waited for."""
        if self._end is not None:
            self._raise_ended()
        until = self._last_moment if deadline is None else min(deadline, self._last_moment)
        poll = select.poll()
        poll.register(descriptor, event)
        poll.register(self._report, 0)  # for the guard's end, whatever else holds the pipe open
        usable = dict(poll.poll(max(0.0, 1000 * (until - time.monotonic()))))
        if descriptor in usable:
            return
        if usable:
            self._raise_ended()
        self.kill()
        raise ChildTimeout("the process took too long and was ended")

    def _raise_ended(self) -> NoReturn:
        """Says how the child ended; if only its pipe did, ends it first."""
        # Its end closes its pipes a moment before the guard has seen to the rest.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._guard.wait(_GRACE_S)
        self.kill()
        end = self._end or {}
        if end.get("passed") == "wall":
            raise ChildTimeout("the process used up its time and was ended")
        status = end.get("status")
        died_of = -status if status is not None and status < 0 else None
        raise ChildDied(
            status if died_of is None else None, died_of, self.stderr_tail, end.get("passed")
        )

    # --- Life and death -------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._end is None and self._guard.poll() is None

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to standard error, 64 KiB at most."""
        if self._final_tail is not None:
            return self._final_tail
        return os.pread(self._tail, TAIL_BYTES, 0).decode(errors="replace")

    def wait_until_it_stands(self) -> bool:
        """Whether the sandbox stands and the program has been started in it."""
        until = time.monotonic() + _START_S
        while not self._reports and self._hear(until):
            pass
        self.pid = self._reports[0].get("child") if self._reports else None
        return self.pid is not None

    def _hear(self, until: float) -> bool:
        """Whether the guard has more to say, which is then in `_reports`."""
        poll = select.poll()
        poll.register(self._report, select.POLLIN)
        if not poll.poll(max(0.0, 1000 * (until - time.monotonic()))):
            return False
        content = os.read(self._report, _MOST_REPORTED)
        # Each line is written, and so read, in one piece.
        self._reports += [json.loads(line) for line in content.splitlines()]
        return bool(content)

    def interrupt(self) -> None:
        """Ends it from any thread; whoever waits for it finds that it has died, and tidies up."""
        self._guard.terminate()

    def kill(self) -> None:
        """Ends it and all that it started, and removes what was made for it."""
        if self._end is not None:
            return
        self._guard.terminate()
        try:
            self._guard.wait(_GUARD_S)
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()
        self._end = self._read_end()
        if "status" not in self._end:
            self._kill_without_guard()
        self._final_tail = self.stderr_tail
        for folder in self._remove:
            remove(folder)
        for pipe in (self._guard.stdin, self._guard.stdout):
            assert pipe is not None
            pipe.close()
        os.close(self._report)
        os.close(self._tail)
        _CHILDREN.discard(self)

    def _kill_without_guard(self) -> None:
        """The kernel has ended the sandbox's first process with the guard; ends the others."""
        until = time.monotonic() + _GRACE_S
        with contextlib.suppress(ProcessLookupError, PermissionError):
            while self.pid is not None and time.monotonic() < until:
                os.killpg(self.pid, signal.SIGKILL)
                time.sleep(0.01)

    def _read_end(self) -> dict[str, Any]:
        """The guard's last words, which are not there if it was killed itself."""
        while self._hear(time.monotonic()):
            pass
        return self._reports[-1] if self._reports else {}
