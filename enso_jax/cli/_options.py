"""Which options and arguments do several commands share, and what do they stand for?"""

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from enso_jax.observations import Record
    from enso_jax.protocol import Protocol

ObservationsOption = Annotated[
    Path | None,
    typer.Option(
        "--observations",
        metavar="DIR",
        help="The record's folder; else $ENSO_OBSERVATIONS, else the installed one, "
        "else the simulated nature run.",
    ),
]
MeasuredOnlyOption = Annotated[
    bool,
    typer.Option(
        "--measured-only",
        help="Leave stand-in values out of assimilation, scoring and forecast starts.",
    ),
]
IsolationOption = Annotated[
    str | None,
    typer.Option(
        metavar="SANDBOX",
        help="bubblewrap or landlock, in which a folder's code runs; else the best there is.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, and nothing else.")
]


class Precision(enum.StrEnum):
    """Types of the state and of the normals that drive it."""

    mixed = enum.auto()
    float32 = enum.auto()
    float64 = enum.auto()


class EngineChoice(enum.StrEnum):
    """What makes the steps of a folder's model."""

    auto = enum.auto()
    compiled = enum.auto()
    host = enum.auto()


class FormChoice(enum.StrEnum):
    """The forms of a submission."""

    numpy = enum.auto()
    jax = enum.auto()


class DeviceChoice(enum.StrEnum):
    """What computes."""

    auto = enum.auto()
    cpu = enum.auto()
    gpu = enum.auto()


SeedOption = Annotated[int, typer.Option(min=0, help="Of all noise.")]
ReplicatesOption = Annotated[
    int, typer.Option(min=1, help="Independent repetitions; 8 or more give honest errors.")
]
PrecisionOption = Annotated[
    Precision, typer.Option(help="mixed: float64 state, float32 normals; else both in one type.")
]
EngineOption = Annotated[
    EngineChoice, typer.Option(help="auto: compiled where a submission's step can be.")
]
CalendarOption = Annotated[
    float | None,
    typer.Option(help="Model time on 1 January, in place of what submission.toml says."),
]
DeviceOption = Annotated[
    DeviceChoice, typer.Option("--device", help="auto: a GPU where JAX finds one, else the CPU.")
]
StoreOption = Annotated[
    Path, typer.Option("--store", metavar="DIR", help="Where results are kept and found again.")
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="WHERE",
        help="here, local:N, tcp://HOST:PORT or slurm:JOBS; else whichever is faster here.",
    ),
]


def existing_folder(path: Path) -> Path:
    """`path`, if it is a folder; else a sentence."""
    from enso_jax.submissions import NoSuchFolder

    if not path.is_dir():
        what = "is a file" if path.exists() else "does not exist"
        raise NoSuchFolder(f"{path} {what}: give the folder of a submission.")
    return path


def record_of(folder: Path | None, measured_only: bool) -> "Record":
    """The record that the options name."""
    from enso_jax.observations import record_in_use

    record = record_in_use(folder)
    return record.measured_only() if measured_only else record


def protocol_of(precision: Precision) -> "Protocol":
    """The standard protocol in a precision."""
    from enso_jax.protocol import Protocol

    match precision:
        case Precision.mixed:
            return Protocol()
        case Precision.float32:
            return Protocol(state_dtype="float32", noise_dtype="float32")
        case Precision.float64:
            return Protocol(state_dtype="float64", noise_dtype="float64")
