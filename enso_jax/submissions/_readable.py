"""What of the machine must a Python process be able to read?

The system's programs and libraries, the Python that runs here with its packages, and
this package. Nothing else: no home, no checkout, no observations.
"""

import site
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

#: Where this package lies.
PACKAGE: Final = Path(__file__).resolve().parents[1]

#: What programs need of the system; what a machine lacks is left out.
SYSTEM: Final = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/localtime",
    "/sys/devices/system/cpu",
)

_SITE_NAMES: Final = ("site-packages", "dist-packages")


def python_paths() -> list[Path]:
    """The interpreter, its library, its packages and this package, under all their names.

    Raises:
        ValueError: if Python is installed so that to show it would be to show the home folder.
    """
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    folders = [Path(prefix) for prefix in prefixes] + site_folders()
    for folder in folders:
        if Path.home().resolve().is_relative_to(folder.resolve()):
            raise ValueError(
                f"Python is installed in {folder}, which holds the home folder; "
                "make a virtual environment of a Python that is installed elsewhere"
            )
    paths = {path for folder in folders for path in (folder, folder.resolve())}
    paths |= {PACKAGE, *_links_to(Path(sys.executable))}
    return sorted(path for path in paths if not _is_of_the_system(path))


def site_folders() -> list[Path]:
    """Where packages are found, be it outside of Python's own folders."""
    found = [Path(entry) for entry in (*sys.path, site.getusersitepackages())]
    return [path for path in found if path.name in _SITE_NAMES and path.is_dir()]


def is_installed() -> bool:
    """Whether this package lies among others, rather than in a checkout of its own."""
    return PACKAGE.parent.name in _SITE_NAMES


def _links_to(program: Path) -> Iterator[Path]:
    """A program, and every name on the way to it: an environment's python is often a link."""
    for _ in range(40):
        yield program
        if not program.is_symlink():
            return
        program = program.parent / program.readlink()


def _is_of_the_system(path: Path) -> bool:
    return any(path.is_relative_to(system) for system in SYSTEM)
