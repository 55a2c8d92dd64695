"""Who sees to it that a child ends, with all that it started?

A process between the grader and the sandbox, out of reach of what runs there. It counts
what the children use together, 20 times a second, and ends them all when a limit is
passed, when it is told to, when the program ends, or when the grader is gone - also by
kill -9, which leaves the grader no time to tidy up. Once it has ended, nothing of the
child is left. Standard library only; alone in its interpreter, started by `_isolation`.
"""

import contextlib
import ctypes
import dataclasses
import json
import os
import select
import signal
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from enso_jax.submissions._confine import READY
from enso_jax.submissions._limits import Limits

#: Bytes of standard error that are kept.
TAIL_BYTES: Final = 64 << 10

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36

_LOOK_EVERY_S: Final = 0.05
_LOOK_AT_FILES_EVERY_S: Final = 0.25
#: Looking takes at most a tenth of the guard's time, however many processes a machine has.
_REST: Final = 10
#: All processes are looked at afresh after so many looks, in case a number was used again.
_LOOKS_BEFORE_AFRESH: Final = 40
#: Pages of libraries, which the kernel does not count as a process's data.
_LIBRARIES_BYTES: Final = 512 << 20
_SMALLEST_FILE_BYTES: Final = 4096
#: For the kernel to take back what killed processes held.
_BURIAL_S: Final = 10.0
_FIRST_SIGNAL_STATUS: Final = 128


@dataclasses.dataclass(frozen=True)
class Watch:
    """What `main` is told.

    Attributes:
        command: what starts the sandbox.
        scratch: the folder whose growth is limited.
        limits: of all processes together.
        own_processes: how many of them are the sandbox's own.
        status_of_signals: whether `command` says "ended by signal n" as exit status 128 + n.
        grader: the process for which all this is done.
        report: an open file; a line when the sandbox stands, another at the end.
        tail: an open file that holds the end of standard error.
        remove: folders to remove at the end.
    """

    command: list[str]
    scratch: str
    limits: Limits
    own_processes: int
    status_of_signals: bool
    grader: int
    report: int
    tail: int
    remove: list[str]

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Watch":
        told = json.loads(text)
        return cls(**(told | {"limits": Limits(**told["limits"])}))


def main(told: str) -> None:
    watch = Watch.from_json(told)
    for descriptor in (watch.report, watch.tail):
        os.set_inheritable(descriptor, False)
    libc = ctypes.CDLL(None)
    # What loses its parent in the sandbox becomes this process's child, and is found.
    libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, ctypes.c_ulong(0), 0, 0, 0)
    _Guard(watch).guard()


class _Guard:
    """The guard at work: one child, until nothing of it is left."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._started = time.monotonic()
        self._told_to_stop = False
        self._family = _Family()
        self._files = _Files(watch.scratch, watch.limits.file_bytes)
        self._next_look = 0.0

    def guard(self) -> None:
        wakings = self._listen_to_signals()
        ready, errors = self._start()
        passed, status = None, None
        try:
            passed = self._wait(wakings, ready, errors)
        finally:
            status = self._end_all()
        # A short program can have come and gone within one look.
        self._hear(ready)
        with contextlib.suppress(BlockingIOError):
            while errors.drain():
                pass
        for folder in self._watch.remove:
            remove(Path(folder))
        self._report(self._verdict(status, passed))

    # --- Starting -------------------------------------------------------------------------

    def _listen_to_signals(self) -> int:
        """An open file that can be read when a signal has come."""
        wakings, waker = os.pipe()
        os.set_blocking(wakings, False)
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        return wakings

    def _stop(self, *_: object) -> None:
        self._told_to_stop = True

    def _start(self) -> tuple[int, "_Errors"]:
        """Starts the sandbox; gives where it says that it stands, and its standard error."""
        ready, is_ready = os.pipe()
        errors, error_output = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            try:
                self._become(is_ready, error_output)
            finally:
                os._exit(127)
        for descriptor in (is_ready, error_output):
            os.close(descriptor)
        # The messages are the child's alone: when it is gone they end.
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        return ready, _Errors(errors, self._watch.tail)

    def _become(self, is_ready: int, error_output: int) -> None:
        """In the child: the leader of its own group, the first to go when memory is short."""
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)
        os.setsid()
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(error_output, 2)
        os.dup2(is_ready, READY)
        os.set_inheritable(READY, True)
        command = self._watch.command
        os.execv(command[0], command)

    # --- Watching -------------------------------------------------------------------------

    def _wait(self, wakings: int, ready: int, errors: "_Errors") -> str | None:
        """Until the program ends or has to; gives the limit that was passed, if one was."""
        poll = select.poll()
        for descriptor in (wakings, ready, errors.descriptor):
            poll.register(descriptor, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll(1000 * _LOOK_EVERY_S):
                if descriptor == wakings:
                    os.read(wakings, 4096)
                elif descriptor == ready:
                    poll.unregister(ready)
                    self._hear(ready)
                elif not errors.drain():
                    poll.unregister(errors.descriptor)
            if self._told_to_stop or os.getppid() != self._watch.grader or self._has_ended():
                return None
            passed = self._passed(errors.total)
            if passed is not None:
                return passed

    def _hear(self, ready: int) -> None:
        """Passes it on if the sandbox stands."""
        if os.read(ready, 1):
            self._report({"child": self._child})

    def _has_ended(self) -> bool:
        """Whether the program has; buries what others it left on the way."""
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid == self._child:
                return True
            os.waitpid(ended.si_pid, 0)
        return False

    def _passed(self, output_bytes: int) -> str | None:
        """The limit that has been passed, if one has."""
        limits = self._watch.limits
        now = time.monotonic()
        if now - self._started > limits.wall_s:
            return "wall"
        if output_bytes > limits.output_bytes:
            return "output"
        if now < self._next_look:
            return None
        members = self._family.members()
        used = {
            "processes": (
                sum(member.threads for member in members) - self._watch.own_processes,
                limits.processes,
            ),
            "cpu": (sum(member.cpu_s for member in members), limits.cpu_s),
        }
        for name, (amount, most) in used.items():
            if amount > most:
                return name
        if _memory_bytes(members, limits.memory_bytes) > limits.memory_bytes + _LIBRARIES_BYTES:
            return "memory"
        if self._files.are_too_many(members):
            return "files"
        taken = time.monotonic() - now
        self._next_look = now + max(_LOOK_EVERY_S, _REST * taken)
        return None

    # --- Ending ---------------------------------------------------------------------------

    def _end_all(self) -> int | None:
        """Kills until nothing is left; gives the status of the child, None if it will not go.

        The child itself is buried last: as long as it is not, the number of its group can
        be no other's. What else is killed are this process's own children, which the kernel
        gives it whenever their parents die.
        """
        give_up = time.monotonic() + _BURIAL_S
        while time.monotonic() < give_up:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child, signal.SIGKILL)
            # In this order: once the child has ended, what it leaves is among the children.
            ended = os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            children = _children_of(os.getpid())
            if ended and children == [self._child]:
                return os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])
            for child in children:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
                if child != self._child:
                    os.waitpid(child, os.WNOHANG)
            time.sleep(0.001)
        return None

    def _verdict(self, status: int | None, passed: str | None) -> dict[str, Any]:
        if status is not None and self._watch.status_of_signals and status > _FIRST_SIGNAL_STATUS:
            status = _FIRST_SIGNAL_STATUS - status
        if passed is None and status == -signal.SIGXCPU:
            passed = "cpu"
        return {"status": status, "passed": passed}

    def _report(self, what: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._watch.report, json.dumps(what).encode() + b"\n")


class _Errors:
    """Standard error: all is read, the end is kept where the grader can read it, too."""

    def __init__(self, descriptor: int, tail: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.total = 0
        self._tail = tail
        self._kept = b""

    def drain(self) -> bool:
        """Takes what has been written; False once nothing more can come."""
        content = os.read(self.descriptor, 1 << 20)
        if not content:
            return False
        self.total += len(content)
        self._kept = (self._kept + content)[-TAIL_BYTES:]
        os.pwrite(self._tail, self._kept, 0)
        return True


# --- Counting ---------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Process:
    """One process as /proc shows it."""

    pid: int
    parent: int
    threads: int
    cpu_s: float
    memory_bytes: int


class _Family:
    """All processes that come from this one."""

    def __init__(self) -> None:
        self._strangers: set[int] = set()
        self._looks = 0

    def members(self) -> list[_Process]:
        # A stranger stays one, so most processes of a machine need be read only now and then.
        self._looks += 1
        if self._looks % _LOOKS_BEFORE_AFRESH == 0:
            self._strangers.clear()
        present = set(_all_pids())
        self._strangers &= present
        candidates = {p.pid: p for p in _read_processes(present - self._strangers)}
        members = _descendants(os.getpid(), candidates)
        self._strangers |= candidates.keys() - {member.pid for member in members}
        return members


def _descendants(ancestor: int, processes: dict[int, _Process]) -> list[_Process]:
    children: dict[int, list[_Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)
    found: list[_Process] = []
    parents = [ancestor]
    while parents:
        new = children.pop(parents.pop(), [])
        found += new
        parents += [process.pid for process in new]
    return found


def _children_of(parent: int) -> list[int]:
    return [process.pid for process in _read_processes(_all_pids()) if process.parent == parent]


def _all_pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208


def _read_processes(pids: Iterable[int]) -> Iterator[_Process]:
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123, twice as fast
                content = file.read()
        except OSError:  # it has ended, or is another user's and hidden
            continue
        if not content:
            continue
        # The name, in brackets, may hold anything.
        fields = content[content.rindex(b")") + 2 :].split()
        yield _Process(
            pid=pid,
            parent=int(fields[1]),
            threads=int(fields[17]),
            cpu_s=sum(map(int, fields[11:15])) / ticks,
            memory_bytes=int(fields[21]) * page,
        )


def _memory_bytes(members: list[_Process], enough: int) -> int:
    """What the processes hold, at most; pages that they share count once if it matters."""
    upper = sum(member.memory_bytes for member in members)
    return upper if upper <= enough else sum(map(_own_share, members))


def _own_share(member: _Process) -> int:
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path(f"/proc/{member.pid}/smaps_rollup").read_text().splitlines()
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith("Pss:")))
    return member.memory_bytes


class _Files:
    """What the scratch folder has grown by, and files without a name."""

    def __init__(self, folder: str, most_bytes: int) -> None:
        self._folder = folder
        self._most = most_bytes + self._size()
        self._next_look = 0.0

    def are_too_many(self, members: list[_Process]) -> bool:
        now = time.monotonic()
        if now < self._next_look:
            return False
        try:
            size = self._size() + _nameless_bytes(members)
        except OSError:  # what cannot be measured was hidden: paths too long, closed folders
            return True
        taken = time.monotonic() - now
        self._next_look = now + max(_LOOK_AT_FILES_EVERY_S, _REST * taken)
        return size > self._most

    def _size(self) -> int:
        size = 0
        folders = [self._folder]
        while folders:
            with contextlib.suppress(FileNotFoundError), os.scandir(folders.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):
                        size += max(
                            _SMALLEST_FILE_BYTES, _on_disk(entry.stat(follow_symlinks=False))
                        )
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        return size


def _nameless_bytes(members: list[_Process]) -> int:
    """Files that were removed while open, which take their space until they are closed."""
    sizes: dict[tuple[int, int], int] = {}
    for member in members:
        with contextlib.suppress(OSError):
            for descriptor in Path(f"/proc/{member.pid}/fd").iterdir():
                with contextlib.suppress(FileNotFoundError):
                    found = descriptor.stat()
                    if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                        sizes[found.st_dev, found.st_ino] = _on_disk(found)
    return sum(sizes.values())


def _on_disk(found: os.stat_result) -> int:
    return 512 * found.st_blocks


# --- Tidying up -------------------------------------------------------------------------


def remove(folder: Path) -> None:
    """Removes a folder, whatever was put in it; best effort."""
    # Not by Python, which gives up on folders nested a thousand deep. The second time in
    # case some were closed to their owner.
    for command in (("rm", "-rf", "--"), ("chmod", "-R", "u+rwX", "--"), ("rm", "-rf", "--")):
        if not folder.exists():
            return
        pid = os.posix_spawnp(command[0], [*command, str(folder)], os.environ)
        os.waitpid(pid, 0)
