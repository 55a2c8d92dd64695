"""How does a process give up the file system, for good and without asking anybody?

With Landlock, which any user may use on itself: from then on this process and all that
come from it reach only the paths listed. What Landlock leaves open - the network,
signals, the modes of files - `_system_calls` closes. Standard library only: this runs
in the child before the submission does.
"""

import ctypes
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_FOR_VERSION: Final = 1
_RULE_PATH_BENEATH: Final = 1

# Rights to files, in the kernel's order.
(
    _EXECUTE,
    _WRITE_FILE,
    _READ_FILE,
    _READ_FOLDER,
    _REMOVE_FOLDER,
    _REMOVE_FILE,
    _MAKE_CHARACTER_DEVICE,
    _MAKE_FOLDER,
    _MAKE_FILE,
    _MAKE_SOCKET,
    _MAKE_FIFO,
    _MAKE_BLOCK_DEVICE,
    _MAKE_LINK,
    _MOVE,
    _TRUNCATE,
    _CONTROL_DEVICE,
) = (1 << bit for bit in range(16))

#: The first version that knows each of the later rights.
_SINCE: Final = {_MOVE: 2, _TRUNCATE: 3, _CONTROL_DEVICE: 5}
_NETWORK_SINCE: Final = 4
_BIND_AND_CONNECT_TCP: Final = 0b11
SCOPES_SINCE: Final = 6
_ABSTRACT_SOCKETS_AND_SIGNALS: Final = 0b11

_READ: Final = _EXECUTE | _READ_FILE | _READ_FOLDER
_CHANGE: Final = (
    _WRITE_FILE
    | _REMOVE_FOLDER
    | _REMOVE_FILE
    | _MAKE_FOLDER
    | _MAKE_FILE
    | _MAKE_FIFO
    | _MAKE_LINK
    | _MOVE
    | _TRUNCATE
)
#: All that can be allowed for what is no folder.
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _CONTROL_DEVICE

#: Devices that programs take for granted, and a file that tells JAX of the processor.
_DEVICES: Final = ("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/proc/cpuinfo")
_NOWHERE: Final = "/dev/null"


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Landlock's version (ABI) in the running kernel, 0 if there is none."""
    if platform.system() != "Linux":
        return 0
    answer = ctypes.CDLL(None).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_FOR_VERSION)
    return max(0, answer)


def give_up_files(readable: Iterable[Path], scratch: Path) -> None:
    """Leaves this process `readable` to read and run, and `scratch` to do with as it likes.

    Raises:
        OSError: if the kernel refuses.
    """
    known = _known_rights(version())
    ruleset = _create(known)
    for path in (*readable, *map(Path, _DEVICES)):
        _allow(ruleset, path, _READ & known)
    _allow(ruleset, Path(_NOWHERE), (_READ_FILE | _WRITE_FILE) & known)
    _allow(ruleset, scratch, (_READ | _CHANGE) & known)
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _known_rights(abi: int) -> int:
    every = (1 << 16) - 1
    return every & ~sum(right for right, since in _SINCE.items() if abi < since)


def _create(known: int) -> int:
    abi = version()
    rules = _Ruleset(
        known,
        _BIND_AND_CONNECT_TCP if abi >= _NETWORK_SINCE else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= SCOPES_SINCE else 0,
    )
    # An older kernel refuses a structure that is longer than the one it knows.
    size = 24 if abi >= SCOPES_SINCE else 16 if abi >= _NETWORK_SINCE else 8
    return _call(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), 0)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    if not path.exists():
        return
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = _PathBeneath(rights if path.is_dir() else rights & _OF_FILES, parent)
    _call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    os.close(parent)


def _call(number: int, *arguments: object) -> int:
    answer = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return answer
