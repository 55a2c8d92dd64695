"""How is a program started where there is nothing but what it may see?

bubblewrap gives it namespaces of its own: a file system that holds only what is listed
here, a network with nobody on it, and a process table of which it is the beginning.
"""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from enso_jax.submissions._readable import SYSTEM

#: bubblewrap's own processes: one outside that waits, one inside that is the first.
OWN_PROCESSES: Final = 2

_NAMESPACES: Final = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
)


def program() -> str | None:
    """Where bubblewrap is installed, if it is."""
    return shutil.which("bwrap")


def command(scratch: Path, readable: Iterable[Path]) -> list[str]:
    """What to put before a command so that it runs in a sandbox, in `scratch`."""
    bwrap = program()
    assert bwrap is not None, "bubblewrap is installed"
    return [
        bwrap,
        *_NAMESPACES,
        *("--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--cap-drop", "ALL"),
        *("--die-with-parent", "--new-session"),
        *("--proc", "/proc", "--dev", "/dev", "--dir", "/tmp"),
        *_system(),
        *_binds(scratch, readable),
        # The folders that hold all this are memory, which would be unlimited to write to.
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *("--chdir", str(scratch), "--"),
    ]


def _system() -> Iterator[str]:
    for name in SYSTEM:
        if Path(name).is_symlink():  # /lib is usr/lib
            yield from ("--symlink", str(Path(name).readlink()), name)
        elif Path(name).exists():
            yield from ("--ro-bind", name, name)


def _binds(scratch: Path, readable: Iterable[Path]) -> Iterator[str]:
    folders = set(readable)
    # What lies in another is there with it; it may even be a link that leads nowhere yet.
    outermost = {path for path in folders if not folders & set(path.parents)}
    # Outer folders first: one that is mounted later covers what it holds.
    for path in sorted({*outermost, scratch}, key=lambda path: len(path.parts)):
        yield from ("--bind" if path == scratch else "--ro-bind", str(path), str(path))
