"""On what is the benchmark run, and how thoroughly?"""

import dataclasses
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from enso_jax.models import TermModel, built_in
from enso_jax.observations import Record
from enso_jax.protocol import Protocol

#: The model that everything is measured on.
MODEL: Final = "fable-5.1"
#: The same model as a folder in NumPy.
FOLDER: Final = Path(__file__).with_name("fable")

_STANDARD: Final = Protocol()
_QUICK: Final = Protocol(free_run_years=280, smoother_members=100, forecast_members=10)


@dataclasses.dataclass(frozen=True)
class Setting:
    """What the parts are given.

    Attributes:
        record: what is graded on.
        observations: the folder that it was read from, for other processes; None if it was found
            without being named.
        quick: fewer repetitions and sizes, for a look or a test.
        protocol: the constants of what is measured in this process.
    """

    record: Record
    observations: Path | None = None
    quick: bool = False
    protocol: Protocol = _STANDARD

    @classmethod
    def of(cls, record: Record, observations: Path | None, quick: bool) -> "Setting":
        """The standard protocol, or for a quick look a smaller one."""
        return cls(record, observations, quick, _QUICK if quick else _STANDARD)

    @property
    def repeats(self) -> int:
        """How often a short measurement is repeated."""
        return 2 if self.quick else 5

    @property
    def model(self) -> TermModel:
        return built_in(MODEL).build()


def with_free_run(protocol: Protocol, years: int) -> Protocol:
    """`protocol` with a free run of any length, to be timed and not to be scored."""
    return dataclasses.replace(
        protocol,
        free_run_years=years,
        free_run_spin_up_years=0,
        segment_years=1,
        event_segment_years=1,
    )


@contextmanager
def empty_folder() -> Iterator[Path]:
    """A new folder, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="enso-jax-benchmark-") as folder:
        yield Path(folder)
