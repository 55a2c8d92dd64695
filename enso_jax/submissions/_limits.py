"""How much may a child use?

Two hands hold it to that: the kernel, process by process, from before its first
instruction (here); and the guard, for all of its processes together (`_guard`).
Standard library only: this is read on both sides of the sandbox.
"""

import dataclasses
import math
import os
import resource
from typing import Final

_OPEN_FILES: Final = 256


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a child and all that it starts may use.

    Attributes:
        wall_s, cpu_s: seconds since its start, and of computing.
        memory_bytes: data of one process, and memory of all together; an allocation beyond
            it fails, as it would on a small machine.
        processes: processes and threads at one time; JAX alone starts about twenty.
        file_bytes: the largest file, and what may be added to the scratch folder.
        output_bytes: what may be written to standard error.
    """

    wall_s: float
    cpu_s: float
    memory_bytes: int = 4 << 30
    processes: int = 64
    file_bytes: int = 64 << 20
    output_bytes: int = 16 << 20


def limit_this_process(limits: Limits, most_processes: int | None) -> None:
    """Has the kernel hold this process, and all that come from it, to `limits`.

    Args:
        most_processes: the kernel's count is of all processes of a user, so the ceiling
            depends on the sandbox; None for no ceiling.
    """
    cpu_s = max(1, math.ceil(limits.cpu_s))
    # Not the address space, of which JAX reserves far more than it uses.
    _lower(resource.RLIMIT_DATA, limits.memory_bytes)
    # A signal that says why, then one that cannot be ignored.
    _lower(resource.RLIMIT_CPU, cpu_s, cpu_s + 1)
    _lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _lower(resource.RLIMIT_CORE, 0)
    if most_processes is not None:
        _lower(resource.RLIMIT_NPROC, most_processes)


def kernel_counts_by_sandbox() -> bool:
    """Whether the processes of a user namespace are counted apart from the user's others."""
    major, minor = (int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    return (major, minor) >= (5, 14)


def _lower(which: int, soft: int, hard: int | None = None) -> None:
    """Sets a limit, unless the one in force is lower already."""
    ceiling = resource.getrlimit(which)[1]
    wanted = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        soft, wanted = min(soft, ceiling), min(wanted, ceiling)
    resource.setrlimit(which, (soft, wanted))
