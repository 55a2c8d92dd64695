"""How does a process lock itself in before it becomes the submission's?

It lowers its limits, gives up its privileges, the file system (under Landlock) and the
system calls that a model does not need, tells the guard that all of this stands, and
becomes the program. Standard library only; run by `_guard`, alone in its interpreter.
"""

import ctypes
import dataclasses
import json
import os
import platform
import signal
from pathlib import Path
from typing import Final

from enso_jax.submissions import _landlock, _system_calls
from enso_jax.submissions._limits import Limits, limit_this_process

#: The open file through which the guard hears that the sandbox stands.
READY: Final = 3

_PR_CAPBSET_DROP: Final = 24
_CAPABILITY_VERSION_3: Final = 0x20080522


@dataclasses.dataclass(frozen=True)
class Confinement:
    """What `main` is told.

    Attributes:
        program: what to run.
        scratch: its working folder.
        limits: of one process.
        most_processes: the kernel's ceiling, None for none.
        landlock: what may be read, under Landlock; None where bubblewrap has seen to it.
    """

    program: list[str]
    scratch: str
    limits: Limits
    most_processes: int | None
    landlock: list[str] | None

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Confinement":
        told = json.loads(text)
        return cls(**(told | {"limits": Limits(**told["limits"])}))


def main(told: str) -> None:
    confinement = Confinement.from_json(told)
    os.chdir(confinement.scratch)
    limit_this_process(confinement.limits, confinement.most_processes)
    _drop_capabilities()
    _no_new_privileges()
    _restore_signals()
    namespaces = confinement.landlock is None
    if not namespaces:
        _landlock.give_up_files(map(Path, confinement.landlock or ()), Path(confinement.scratch))
    if _system_calls.is_known(platform.machine()):
        _system_calls.refuse_system_calls(
            namespaces=namespaces,
            signals_stay_inside=_landlock.version() >= _landlock.SCOPES_SINCE,
            own_pid=os.getpid(),
        )
    os.write(READY, b"!")
    os.close(READY)
    os.execvp(confinement.program[0], confinement.program)


def _drop_capabilities() -> None:
    """Leaves root, if this is root, nothing but its name."""
    libc = ctypes.CDLL(None)
    capability = 0
    # The bounding set, from which root would get all back with the next program.
    while libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) == 0:
        capability += 1
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    libc.capset(header, (ctypes.c_uint32 * 6)())


def _no_new_privileges() -> None:
    """No program that this process runs gets rights that it lacks, setuid or not."""
    _PR_SET_NO_NEW_PRIVS = 38
    if ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0) != 0:
        raise OSError("the kernel cannot withhold new privileges")


def _restore_signals() -> None:
    # Python ignores these, and what is ignored stays so in the program.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
