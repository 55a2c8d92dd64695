"""What does one run of the benchmark say? Everything that it measured, as one JSON object.

Machines are noisy and differ, so what is claimed of the engine is a ratio of two times that
were measured in one run on one machine.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal

from enso_jax import __version__
from enso_jax.benchmark._engines import Engines, engines
from enso_jax.benchmark._floor import Floor, floor
from enso_jax.benchmark._growth import Growth, growth
from enso_jax.benchmark._machine import Machine, machine
from enso_jax.benchmark._measured import Measured, Skipped
from enso_jax.benchmark._memory import Memory, memory
from enso_jax.benchmark._precision import Precision, precision
from enso_jax.benchmark._setting import Setting
from enso_jax.benchmark._stacked import Stacked, stacked
from enso_jax.benchmark._start import Start, start
from enso_jax.benchmark._sweep import Sweep, sweep
from enso_jax.submissions import IsolationUnavailable

SCHEMA_VERSION: Final = 1

#: What is measured, by name, in the order in which it is told.
PARTS: Final[Mapping[str, Callable[[Setting], Measured]]] = {
    "floor": floor,
    "engines": engines,
    "start": start,
    "stacked": stacked,
    "sweep": sweep,
    "growth": growth,
    "precision": precision,
    "memory": memory,
}


class Report(Measured):
    """What was measured. A part that was not asked for, or was skipped, is null.

    Attributes:
        quick: whether sizes and repetitions were reduced.
        observations, observations_kind: the name of the record, measured or simulated.
        skipped: why, for each part that was asked for and could not be measured.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    engine_version: str
    machine: Machine
    quick: bool
    observations: str
    observations_kind: str
    skipped: dict[str, str]
    floor: Floor | None = None
    engines: Engines | None = None
    start: Start | None = None
    stacked: Stacked | None = None
    sweep: Sweep | None = None
    growth: Growth | None = None
    precision: Precision | None = None
    memory: Memory | None = None

    def to_json(self) -> str:
        """The text of `enso-jax benchmark --json`."""
        return self.model_dump_json(indent=2) + "\n"


def run_benchmark(
    setting: Setting,
    parts: Iterable[str] = tuple(PARTS),
    done: Callable[[str], None] = lambda part: None,
) -> Report:
    """Measures `parts`, one after the other; `done` is told the name of each as it ends."""
    before = machine()
    found: dict[str, Measured] = {}
    skipped: dict[str, str] = {}
    for part in parts:
        try:
            found[part] = PARTS[part](setting)
        except (Skipped, IsolationUnavailable) as reason:
            skipped[part] = str(reason)
        done(part)
    return Report(
        engine_version=__version__,
        machine=before,
        quick=setting.quick,
        observations=setting.record.name,
        observations_kind=setting.record.kind,
        skipped=skipped,
        **found,  # pyright: ignore[reportArgumentType]
    )
