"""`enso-jax`: the commands.

Each command reads its input, calls the library and prints what came of it. Tables
and progress go to the terminal; with `--json` the result alone goes to stdout and
everything else to stderr. Exit status: 0 scored, 1 invalid, 2 usage or missing
input, 3 grader error.
"""

import contextlib
import enum
import functools
import hashlib
import importlib.metadata
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from enso_jax.grading import Grade, GradeResult
    from enso_jax.models import PublishedScores
    from enso_jax.observations import Record
    from enso_jax.protocol import Protocol

# The library is imported inside the commands: --help and a mistyped option answer at once.

INVALID: Final = 1
USAGE: Final = 2
GRADER_ERROR: Final = 3

_SCORES: Final = "scores.json"
_EXPERIMENTS: Final = "experiments.nc"
_FIGURE: Final = "scorecard.png"
#: The scores come last: once they are there, so is what they rest on.
_FILES: Final = (_EXPERIMENTS, _FIGURE, _SCORES)

app = typer.Typer(
    help="Grades low-order stochastic models of El Nino.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
observations_app = typer.Typer(help="The record that models are graded on.", no_args_is_help=True)
app.add_typer(observations_app, name="observations")

_Observations = Annotated[
    Path | None,
    typer.Option(
        "--observations",
        metavar="DIR",
        help="The record's folder; else $ENSO_OBSERVATIONS, else the installed one, "
        "else the simulated nature run.",
    ),
]
_MeasuredOnly = Annotated[
    bool,
    typer.Option(
        "--measured-only",
        help="Leave stand-in values out of assimilation, scoring and forecast starts.",
    ),
]
_Isolation = Annotated[
    str | None,
    typer.Option(
        metavar="SANDBOX",
        help="bubblewrap or landlock, in which a folder's code runs; else the best there is.",
    ),
]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]


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


def main() -> None:
    """Runs the command line; every error becomes one sentence and an exit status."""
    try:
        status = app(standalone_mode=False)
    except Exception as error:
        sys.exit(_report(error))
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(status)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from enso_jax import __version__

        print(__version__)
        raise typer.Exit


@app.command()
def grade(
    submission: Annotated[
        str, typer.Argument(help="A folder, or the name of a built-in model (`enso-jax models`).")
    ],
    observations: _Observations = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all noise.")] = 0,
    replicates: Annotated[
        int, typer.Option(min=1, help="Independent repetitions; 8 or more give honest errors.")
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Write {_SCORES}, {_EXPERIMENTS} and {_FIGURE} here."),
    ] = None,
    measured_only: _MeasuredOnly = False,
    precision: Annotated[
        Precision,
        typer.Option(help="mixed: float64 state, float32 normals; else both in one type."),
    ] = Precision.mixed,
    isolation: _Isolation = None,
    engine: Annotated[
        EngineChoice, typer.Option(help="auto: compiled where the folder's step can be.")
    ] = EngineChoice.auto,
    calendar: Annotated[
        float | None,
        typer.Option(help="Model time on 1 January, in place of what submission.toml says."),
    ] = None,
    json: _Json = False,
) -> int:
    """Grade a model on statistics, dynamics and prediction.

    Example: enso-jax grade fable-5.1 --replicates 8 --out graded/fable-5.1
    """
    _set_up_jax()
    from enso_jax.files import whole_set
    from enso_jax.grading import STAGES

    grader, published = _grader(submission, isolation, engine, calendar)
    record, protocol = _record(observations, measured_only), _protocol(precision)
    # Opened before the work, so that a folder that cannot be written costs no time.
    opened = contextlib.nullcontext() if out is None else whole_set(out, _FILES)
    with opened as staging, _progress(STAGES) as done:
        graded = grader(record, protocol, seed=seed, replicates=replicates, done=done)
        if staging is not None:
            _write(graded, staging)
    if json:
        sys.stdout.write(graded.result.to_json())
    else:
        _show(graded.result, published, out)
    return 0 if graded.result.outcome == "scored" else INVALID


@app.command()
def validate(
    submission: Annotated[Path, typer.Argument(help="The submission's folder.", metavar="DIR")],
    isolation: _Isolation = None,
) -> int:
    """Check that a submission keeps the contract, in seconds and without observations.

    Example: enso-jax validate my-model
    """
    _set_up_jax()
    from enso_jax.grading import validate_submission
    from enso_jax.tables import validation_lines

    found = validate_submission(_existing_folder(submission), isolation)
    console = Console()
    for line in validation_lines(found):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    return INVALID if found.faults else 0


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(help="The folder to make.", metavar="DIR")],
    form: Annotated[FormChoice, typer.Option(help="Of the step.")] = FormChoice.numpy,
) -> None:
    """Make a small starter submission that validates and grades.

    Example: enso-jax new my-model --form numpy
    """
    from enso_jax.submissions import write_starter

    write_starter(folder, "jax" if form is FormChoice.jax else "numpy")
    print(f"Made {folder}. Next: enso-jax validate {folder}; enso-jax grade {folder}")


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(help="Print this model's equations.")] = None,
) -> None:
    """List the built-in models, or print the equations of one.

    Example: enso-jax models fable-5.1
    """
    _set_up_jax()
    from enso_jax.models import BUILT_IN, built_in
    from enso_jax.tables import model_table

    console = Console()
    if name is None:
        console.print(model_table(BUILT_IN.values()))
        return
    model = built_in(name)
    console.print(f"[bold]{model.name}[/bold]: {model.title}\n{model.provenance}\n")
    step = model.build()
    console.print(step.conventions(), markup=False, highlight=False, soft_wrap=True)
    for equation in step.equations():
        console.print(equation, markup=False, highlight=False, soft_wrap=True)


@observations_app.command()
def show(
    observations: _Observations = None,
    measured_only: _MeasuredOnly = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the record into a .png, .pdf or .svg.")
    ] = None,
) -> None:
    """Summarise and draw the record in use.

    Example: enso-jax observations show --out record.png
    """
    _set_up_jax()
    from enso_jax.tables import record_sparklines, record_tables

    record = _record(observations, measured_only)
    if out is not None:
        from enso_jax.figures import record_figure, save

        save(record_figure(record), out)
    console = Console()
    console.print(
        f"[bold]{escape(record.name)}[/bold] ({record.kind}): {escape(record.description)}"
    )
    for table in record_tables(record):
        console.print(table)
    console.print("Yearly means")
    for line in record_sparklines(record):
        console.print(line, highlight=False)
    counts = ", ".join(f"{name} {count}" for name, count in record.event_counts.items())
    console.print(f"Events in the long record: {counts}")
    if out is not None:
        console.print(f"Drawn into {out}", soft_wrap=True, markup=False)


def _set_up_jax() -> None:
    """Float64, and compiled programs kept in the user's cache folder.

    These switches are global, so only the program turns them, never the library.
    """
    import jax
    import platformdirs

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    # One folder for each jaxlib and processor: programs compiled for another do not load.
    folder = platformdirs.user_cache_path("enso-jax", appauthor=False)
    key = f"jaxlib-{importlib.metadata.version('jaxlib')}-{_processor()}"
    jax.config.update("jax_compilation_cache_dir", str(folder / key))


def _processor() -> str:
    """A name for what the processor can do, the same on equal machines."""
    cpuinfo = Path("/proc/cpuinfo")
    flags = [
        line
        for line in (cpuinfo.read_text().splitlines() if cpuinfo.exists() else [])
        if line.startswith(("flags", "Features"))
    ]
    text = platform.machine() + platform.processor() + "".join(flags[:1])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _grader(
    submission: str, isolation: str | None, engine: EngineChoice, calendar: float | None
) -> tuple[Callable[..., "Grade"], "PublishedScores | None"]:
    """What grades a folder or a built-in model, given the record; and its printed scores."""
    from enso_jax import grading
    from enso_jax.models import built_in

    path = Path(submission)
    if path.exists() or "/" in submission:
        grader = functools.partial(
            grading.grade_submission,
            _existing_folder(path),
            isolation=isolation,
            engine=None if engine is EngineChoice.auto else engine.value,
            months_at_1_january=calendar,
        )
        return grader, None
    model = built_in(submission)
    step = model.build()
    about = grading.submission(step, model.name, form="built-in")
    return functools.partial(grading.grade, step, about), model.published


def _existing_folder(path: Path) -> Path:
    from enso_jax.submissions import NoSuchFolder

    if not path.is_dir():
        what = "is a file" if path.exists() else "does not exist"
        raise NoSuchFolder(f"{path} {what}: give the folder of a submission.")
    return path


def _record(folder: Path | None, measured_only: bool) -> "Record":
    from enso_jax.observations import record_in_use

    record = record_in_use(folder)
    return record.measured_only() if measured_only else record


def _protocol(precision: Precision) -> "Protocol":
    from enso_jax.protocol import Protocol

    match precision:
        case Precision.mixed:
            return Protocol()
        case Precision.float32:
            return Protocol(state_dtype="float32", noise_dtype="float32")
        case Precision.float64:
            return Protocol(state_dtype="float64", noise_dtype="float64")


@contextlib.contextmanager
def _progress(stages: tuple[str, ...]) -> Iterator[Callable[[str], None]]:
    """A bar on a terminal, nothing on a pipe. Gives what to call as each stage ends."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("grading", total=len(stages))
        yield lambda stage: progress.update(task, advance=1, description=f"{stage} done")


def _write(graded: "Grade", folder: Path) -> None:
    (folder / _SCORES).write_text(graded.result.to_json(), encoding="utf-8")
    if graded.evidence is None:
        return
    from enso_jax.figures import save, scorecard

    packed = {name: {"zlib": True, "complevel": 1} for name in graded.evidence.data_vars}
    graded.evidence.to_netcdf(folder / _EXPERIMENTS, engine="netcdf4", encoding=packed)
    save(scorecard(graded.evidence), folder / _FIGURE)


def _show(result: "GradeResult", published: "PublishedScores | None", out: Path | None) -> None:
    """The result as tables, with what a reader must know beside them."""
    from enso_jax.tables import event_table, score_table

    console = Console()
    console.print(
        f"[bold]{escape(result.submission.name)}[/bold] on {escape(result.observations.name)}, "
        f"{_counted(result.replicates, 'replicate')}, seed {result.seed}, "
        f"{result.submission.engine or 'no'} engine"
    )
    if (reason := result.reason) is not None:
        sentence = f"[bold]Invalid, score 0.[/bold] {escape(reason.message)} ({reason.category})"
        console.print(sentence, soft_wrap=True)
    else:
        console.print(score_table(result, published))
        console.print(event_table(result))
    for note in _notes(result, published):
        console.print(note, soft_wrap=True)
    if out is not None:
        console.print(f"Written to {out}", soft_wrap=True, markup=False)


def _notes(result: "GradeResult", published: "PublishedScores | None") -> Iterator[str]:
    if result.submission.not_compiled is not None:
        yield (
            "The step is called and not compiled, which takes many times as long: "
            f"{escape(result.submission.not_compiled)}"
        )
    if result.observations.kind == "simulated":
        yield (
            "These scores are against a simulated record, the nature run, not against the "
            "observed El Nino: see `enso-jax observations show`."
        )
    if result.observations.stand_ins:
        yield (
            f"{_counted(result.observations.stand_ins, 'value')} of the record in use are "
            "stand-ins, not measurements; --measured-only leaves them out."
        )
    if published is not None and result.outcome == "scored":
        yield f"Printed: in the paper, on the measured record, of {published.of}."
    if result.replicates == 1 and result.outcome == "scored":
        yield "One replicate: S alone is uncertain by about 0.02; --replicates 8 measures it."


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _report(error: Exception) -> int:
    """Prints an error as one sentence; gives the exit status that goes with it."""
    if type(error).__name__ == "Abort":
        return 130
    # What typer raises for a mistyped command, whichever of its versions is installed.
    if hasattr(error, "format_message"):
        sentence, status = error.format_message(), USAGE  # pyright: ignore[reportAttributeAccessIssue]
    elif isinstance(error, _slips()):
        sentence, status = str(error), USAGE
    else:
        sentence, status = _grader_error(error), GRADER_ERROR
    print(f"enso-jax: {sentence}", file=sys.stderr)
    return status


def _slips() -> tuple[type[Exception], ...]:
    """The errors that say what a user can mend."""
    from enso_jax.files import OutputError
    from enso_jax.models import UnknownModelError
    from enso_jax.observations import ObservationError
    from enso_jax.submissions import IsolationUnavailable, NoSuchFolder

    return OutputError, UnknownModelError, ObservationError, IsolationUnavailable, NoSuchFolder


def _grader_error(error: Exception) -> str:
    if os.environ.get("ENSO_JAX_DEBUG"):
        traceback.print_exception(error)
    return (
        f"The grader failed, which says nothing of the model: {type(error).__name__}: {error} "
        "(set ENSO_JAX_DEBUG=1 to see where)."
    )
