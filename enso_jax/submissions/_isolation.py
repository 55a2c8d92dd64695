"""How does a submission's code run without being able to do harm?

In a child process that has no observations, no network, no place to write but a scratch
folder, and bounded time, memory, processes, files and output. Two things can keep it in:
bubblewrap, or where that is not to be had the kernel's Landlock. One of them does, or
nothing is run.

The grader starts a guard (`_guard`), the guard starts the sandbox (`_bubblewrap`), in
which a process locks itself in (`_confine`, with `_landlock` and `_system_calls`) and
then becomes the program.
"""

import functools
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from enso_jax.submissions import _bubblewrap, _landlock, _system_calls
from enso_jax.submissions._confine import Confinement
from enso_jax.submissions._guard import Watch
from enso_jax.submissions._limits import Limits, kernel_counts_by_sandbox
from enso_jax.submissions._process import Child, ChildDied, ChildTimeout, end_sandboxes
from enso_jax.submissions._readable import (
    PACKAGE,
    SYSTEM,
    is_installed,
    python_paths,
    site_folders,
)

__all__ = [
    "ISOLATIONS",
    "Child",
    "ChildDied",
    "ChildTimeout",
    "IsolationUnavailable",
    "Limits",
    "available",
    "choose",
    "end_sandboxes",
    "start",
]

#: What can keep a submission in, the best first.
ISOLATIONS: Final = ("bubblewrap", "landlock")

_INSTALL: Final = {
    "bubblewrap": "install bubblewrap (apt install bubblewrap) and allow user namespaces",
    "landlock": "use a kernel with Landlock (Linux 5.13 or later, on x86_64 or aarch64)",
}

#: Runs one module of this folder, without the package around it, whose imports take seconds.
_RUN_ALONE: Final = """\
import importlib, sys, types
module, folder, told = sys.argv[1:]
for name in ("enso_jax", "enso_jax.submissions"):
    package = sys.modules[name] = types.ModuleType(name)
    package.__path__ = [folder]
importlib.import_module("enso_jax.submissions." + module).main(told)
"""

_THREADS: Final = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # How many threads XLA keeps ready; it would be one or two for each processor.
    "NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


class IsolationUnavailable(Exception):  # noqa: N818, it is what the user reads
    """Submissions cannot be run safely here. Its text is one sentence that says what to do."""


# --- Choosing -----------------------------------------------------------------------------


def available() -> tuple[str, ...]:
    """Those of `ISOLATIONS` that work on this machine, found out by trying."""
    return tuple(isolation for isolation in ISOLATIONS if _obstacle(isolation) is None)


def choose(wanted: str | None = None) -> str:
    """The isolation to use: the best there is, or the one that is `wanted`.

    Raises:
        IsolationUnavailable: if it does not work here. Nothing is never chosen.
    """
    if wanted is not None and wanted not in ISOLATIONS:
        raise IsolationUnavailable(
            f"There is no isolation {wanted!r}; choose {' or '.join(ISOLATIONS)}."
        )
    candidates = ISOLATIONS if wanted is None else (wanted,)
    for isolation in candidates:
        if _obstacle(isolation) is None:
            return isolation
    obstacles = "; ".join(f"{name}: {_obstacle(name)}" for name in candidates)
    ways_out = ", or ".join(_INSTALL[name] for name in candidates)
    raise IsolationUnavailable(f"Submissions cannot be run safely here ({obstacles}): {ways_out}.")


@functools.cache
def _obstacle(isolation: str) -> str | None:
    """Why an isolation does not work here, None if it does."""
    obstacle = _missing(isolation)
    if obstacle is not None:
        return obstacle
    try:
        with start(("true",), None, (), Limits(wall_s=60.0, cpu_s=60.0), isolation):
            return None
    except IsolationUnavailable as error:
        return str(error).rstrip(".")


def _missing(isolation: str) -> str | None:
    """What an isolation needs and this machine has not, as far as that is known untried."""
    if platform.system() != "Linux":
        return f"it needs Linux, and this is {platform.system()}"
    if isolation == "bubblewrap":
        return None if _bubblewrap.program() else "bwrap is not installed"
    if _landlock.version() == 0:
        return "the kernel has no Landlock, or it is switched off"
    if not _system_calls.is_known(platform.machine()):
        return f"the system calls of {platform.machine()} are not known here"
    return None


# --- Starting -----------------------------------------------------------------------------


def start(
    program: Sequence[str],
    scratch: Path | None,
    readable: Sequence[Path],
    limits: Limits,
    isolation: str,
) -> Child:
    """Starts a program in a sandbox, which stands when this returns.

    Its standard input and output are pipes, for `Child.send` and `Child.receive`. It finds
    the same Python with the same packages as here, and little else.

    Args:
        program: its command line; `sys.executable` for Python.
        scratch: its working folder, the only one it can write to. None for a new one,
            which is removed at the end.
        readable: what else it can read, outside of `scratch`.
        isolation: what `choose` gave.

    Raises:
        IsolationUnavailable: if the sandbox cannot be set up.
    """
    missing = _missing(isolation)
    if missing is not None:
        raise IsolationUnavailable(f"{missing}: {_INSTALL[isolation]}.")
    try:
        shown = [*python_paths(), *(path.absolute() for path in readable)]
    except ValueError as error:
        raise IsolationUnavailable(f"{error}.") from error
    made: list[Path] = []
    if scratch is None:
        scratch = Path(tempfile.mkdtemp(prefix="enso-jax-"))
        made.append(scratch)
    scratch = scratch.resolve()
    import_paths = [path for path in site_folders() if not path.is_relative_to(sys.prefix)]
    if not is_installed():
        made.append(_folder_of_only_this_package())
        import_paths.insert(0, made[-1])
        shown.append(made[-1])

    child = _start_guard(
        program, scratch, shown, limits, isolation, _environment(scratch, import_paths), made
    )
    try:
        if child.wait_until_it_stands():
            return child
    except BaseException:
        child.kill()
        raise
    child.kill()
    said = child.stderr_tail.strip().splitlines() or ["it did not start in time"]
    raise IsolationUnavailable(f"{isolation} cannot be set up ({said[-1]}): {_INSTALL[isolation]}.")


def _start_guard(
    program: Sequence[str],
    scratch: Path,
    shown: list[Path],
    limits: Limits,
    isolation: str,
    environment: dict[str, str],
    made: list[Path],
) -> Child:
    confinement = Confinement(
        program=list(program),
        scratch=str(scratch),
        limits=limits,
        most_processes=_most_processes(limits, isolation),
        landlock=[*SYSTEM, *map(str, shown)] if isolation == "landlock" else None,
    )
    within = isolation == "bubblewrap"
    prefix = _bubblewrap.command(scratch, shown) if within else []
    report, reports = os.pipe()
    tail = os.memfd_create("enso-jax-stderr")
    watch = Watch(
        command=[*prefix, *_alone("_confine", confinement.to_json())],
        scratch=str(scratch),
        limits=limits,
        own_processes=_bubblewrap.OWN_PROCESSES if within else 0,
        status_of_signals=within,
        grader=os.getpid(),
        report=reports,
        tail=tail,
        remove=list(map(str, made)),
    )
    guard = subprocess.Popen(
        _alone("_guard", watch.to_json()),
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=tail,
        pass_fds=(reports, tail),
        env=environment,
        # Ctrl-C is for the grader, which then ends its children.
        start_new_session=True,
    )
    os.close(reports)
    return Child(guard, report, tail, limits, scratch, made, isolation, _notes(isolation))


def _alone(module: str, told: str) -> list[str]:
    """Runs a module in an interpreter that loads nothing else."""
    folder = str(PACKAGE / "submissions")
    return [sys.executable, "-I", "-S", "-B", "-c", _RUN_ALONE, module, folder, told]


def _environment(scratch: Path, import_paths: Sequence[Path]) -> dict[str, str]:
    """All that the child hears of the grader's environment: nothing."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "JAX_PLATFORMS": "cpu",
        **_THREADS,
    }
    if import_paths:
        environment["PYTHONPATH"] = os.pathsep.join(map(str, import_paths))
    return environment


def _folder_of_only_this_package() -> Path:
    """A folder to import this package from where its own holds the rest of a checkout."""
    folder = Path(tempfile.mkdtemp(prefix="enso-jax-path-"))
    (folder / PACKAGE.name).symlink_to(PACKAGE)
    return folder


def _most_processes(limits: Limits, isolation: str) -> int | None:
    """The kernel's ceiling, where it counts the processes of this sandbox alone."""
    if isolation == "bubblewrap" and kernel_counts_by_sandbox():
        return limits.processes + _bubblewrap.OWN_PROCESSES
    return None


def _notes(isolation: str) -> tuple[str, ...]:
    """What an isolation does not enforce here."""
    notes = ["memory, files and output of all processes together: looked at 20 times a second"]
    if isolation == "landlock" or os.geteuid() == 0 or not kernel_counts_by_sandbox():
        notes.append("processes: looked at 20 times a second rather than refused at once")
    if isolation == "landlock":
        notes.append("file system: names, sizes and dates of files outside can be found out")
        if _landlock.version() < _landlock.SCOPES_SINCE:
            notes.append("signals: its own later processes cannot be sent any, either")
    if not _system_calls.is_known(platform.machine()):
        notes.append(f"system calls: not filtered on {platform.machine()}")
    return tuple(notes)
