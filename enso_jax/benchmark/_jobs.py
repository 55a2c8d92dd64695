"""What is done once in a process of its own, so that its memory and its start can be measured?

``python -m enso_jax.benchmark._jobs NAME [--quick] [--observations DIR]``
"""

import argparse
import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import jax

from enso_jax.benchmark._setting import FOLDER, Setting
from enso_jax.benchmark._stacks import grade_stacked, sweep_apart, sweep_stacked
from enso_jax.grading import grade_submission
from enso_jax.observations import record_in_use

HOST: Final = "host"
STACKED: Final = "stacked"
SWEEP: Final = "sweep"
APART: Final = "apart"


def stack_size(setting: Setting) -> int:
    """How many checkpoints the job `STACKED` grades."""
    return 8 if setting.quick else 64


def sweep_reductions(setting: Setting) -> int:
    """How many reductions the job `SWEEP` grades."""
    return 8 if setting.quick else 64


def apart_reductions(setting: Setting) -> int:
    """How many of them the job `APART` grades."""
    return 1 if setting.quick else 8


def host_protocol_years(setting: Setting) -> int:
    """How long the free run of the job `HOST` is."""
    return 80 if setting.quick else 100


def _host(setting: Setting) -> None:
    protocol = dataclasses.replace(
        setting.protocol,
        free_run_years=host_protocol_years(setting),
        free_run_spin_up_years=5,
    )
    grade_submission(FOLDER, setting.record, protocol, engine="host")


def _stacked(setting: Setting) -> None:
    grade_stacked(stack_size(setting), setting)


def _sweep(setting: Setting) -> None:
    sweep_stacked(sweep_reductions(setting), setting)


def _apart(setting: Setting) -> None:
    sweep_apart(apart_reductions(setting), setting)


_JOBS: Final[Mapping[str, Callable[[Setting], None]]] = {
    HOST: _host,
    STACKED: _stacked,
    SWEEP: _sweep,
    APART: _apart,
}


def main() -> None:
    """Does the job that the arguments name."""
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=_JOBS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--observations", type=Path)
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    record = record_in_use(options.observations)
    _JOBS[options.job](Setting.of(record, options.observations, options.quick))


if __name__ == "__main__":
    main()
