"""On what machine, with what software was it measured?"""

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Final

import jax

from enso_jax.benchmark._measured import Count, Measured

_SOFTWARE: Final = ("jax", "jaxlib", "numpy", "numba")


class Machine(Measured):
    """Where the numbers are from.

    Attributes:
        cpu: its model's name.
        cores: those that this process may use.
        device: on what JAX computes.
        load: the mean number of running processes in the minute before; near 0 on a machine
            that does nothing else. Null where the system does not say.
        versions: of python and the libraries; null where one is not installed.
    """

    cpu: str
    cores: Count
    device: str
    load: float | None
    versions: dict[str, str | None]


def machine() -> Machine:
    """This one."""
    device = jax.devices()[0]
    return Machine(
        cpu=_cpu(),
        cores=_cores(),
        device=f"{device.platform} ({device.device_kind})",
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        versions={"python": platform.python_version()}
        | {name: _version(name) for name in _SOFTWARE},
    )


def _cpu() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
