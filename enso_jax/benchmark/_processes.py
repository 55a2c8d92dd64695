"""What does something cost in a process of its own: seconds, and memory at its peak?"""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from enso_jax.benchmark._setting import MODEL, Setting

_LAUNCHER: Final = Path(__file__).with_name("_launcher.py")
#: `ru_maxrss` is in bytes on macOS and in kilobytes elsewhere.
_MAXRSS_BYTES: Final = 1 if sys.platform == "darwin" else 1024


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of a process.

    Attributes:
        seconds: from start to end.
        peak_bytes: the resident memory of the largest among it and the processes it started.
    """

    seconds: float
    peak_bytes: int


def grade_command(setting: Setting, cache: Path) -> Cost:
    """Of `enso-jax grade` with the compiled programs that there are in `cache`."""
    return _cost(["enso_jax", "grade", MODEL, "--json"], setting, cache)


def job(name: str, setting: Setting, cache: Path) -> Cost:
    """Of one of the jobs in `enso_jax.benchmark._jobs`."""
    quick = ["--quick"] if setting.quick else []
    return _cost(["enso_jax.benchmark._jobs", name, *quick], setting, cache)


def _cost(module: Sequence[str], setting: Setting, cache: Path) -> Cost:
    command = [sys.executable, "-m", *module]
    if setting.observations is not None:
        command += ["--observations", str(setting.observations)]
    launched = subprocess.run(
        [sys.executable, "-I", "-S", str(_LAUNCHER), *command],
        env=os.environ | {"JAX_COMPILATION_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    status, seconds, peak = json.loads(launched.stdout)
    if status != 0:
        last = (launched.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise RuntimeError(f"{' '.join(module)} ended with status {status}: {last}")
    return Cost(seconds, peak * _MAXRSS_BYTES)
