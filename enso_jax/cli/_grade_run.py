"""`enso-jax grade-run`: every checkpoint of runs, kept in a store."""

import contextlib
import json as json_
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from enso_jax.cli._console import wide_console
from enso_jax.cli._errors import GRADER_ERROR, interrupted
from enso_jax.cli._options import (
    CalendarOption,
    DeviceChoice,
    DeviceOption,
    EngineChoice,
    EngineOption,
    IsolationOption,
    JsonOption,
    MeasuredOnlyOption,
    ObservationsOption,
    Precision,
    PrecisionOption,
    ReplicatesOption,
    SchedulerOption,
    SeedOption,
    StoreOption,
    protocol_of,
    record_of,
)
from enso_jax.own_process import set_up_jax
from enso_jax.wording import AGAINST_SIMULATED

if TYPE_CHECKING:
    from enso_jax.checkpoints import GradedRuns, Store


def grade_run(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Folders of runs, or folders of submission folders.", metavar="RUN..."),
    ],
    store: StoreOption = Path("store"),
    observations: ObservationsOption = None,
    measured_only: MeasuredOnlyOption = False,
    seed: SeedOption = 0,
    replicates: ReplicatesOption = 1,
    precision: PrecisionOption = Precision.mixed,
    isolation: IsolationOption = None,
    engine: EngineOption = EngineChoice.auto,
    calendar: CalendarOption = None,
    scheduler: SchedulerOption = None,
    device: DeviceOption = DeviceChoice.auto,
    again: Annotated[
        bool,
        typer.Option("--again", help="Grade anew what ran out of time or memory, or died."),
    ] = False,
    json: JsonOption = False,
) -> int:
    """Grade every checkpoint of runs; interrupted, the same command goes on where it was.

    Example: enso-jax grade-run runs/* --replicates 8 --store store
    """
    set_up_jax(device=device.value)
    from enso_jax import checkpoints
    from enso_jax.grading import Terms

    found = [checkpoints.read_run(run) for run in runs]
    kept = checkpoints.open_store(store)
    record, protocol = record_of(observations, measured_only), protocol_of(precision)
    request = checkpoints.request_of(
        Terms.of(record, protocol, seed, replicates),
        checkpoints.engine_digest(),
        isolation=isolation,
        engine_choice=engine.value,
        months_at_1_january=calendar,
        again=again,
    )
    with (
        _progress(store) as (expected, done),
        checkpoints.scheduler(scheduler, device.value) as who,
    ):
        graded = checkpoints.grade_runs(found, kept, request, who, expected=expected, done=done)
    if json:
        sys.stdout.write(_as_json(graded, kept))
    else:
        _show(graded, kept, store)
    return GRADER_ERROR if graded.failed else 0


@contextlib.contextmanager
def _progress(store: Path) -> Iterator[tuple[Callable[[int], None], Callable[[], None]]]:
    """A bar on a terminal, nothing on a pipe; where it is interrupted, what remains true."""
    console = Console(stderr=True)
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        bar = progress.add_task("grading", total=None, rate="")

        def done() -> None:
            progress.advance(bar)
            speed = progress.tasks[0].speed
            progress.update(bar, rate="" if speed is None else f"{60 * speed:.0f} a minute")

        try:
            yield lambda submissions: progress.update(bar, total=submissions), done
        except BaseException as error:
            if not interrupted(error):
                raise
            count = int(progress.tasks[0].completed)
            print(
                f"enso-jax: Interrupted after {count} submissions, whose results are kept in "
                f"{store}; the same command goes on from there.",
                file=sys.stderr,
            )
            raise KeyboardInterrupt from error


def _show(graded: "GradedRuns", kept: "Store", store: Path) -> None:
    from enso_jax.tables import run_table

    console = wide_console()
    for run in graded.runs:
        console.print(
            f"[bold]{escape(run.system)}[/bold] ({escape(run.name)}) on "
            f"{escape(run.settings.observations_name)}, seed {run.settings.seed}, "
            f"replicates {run.settings.replicates}"
        )
        console.print(run_table(run, kept.result))
    if any(run.settings.observations_kind == "simulated" for run in graded.runs):
        console.print(
            AGAINST_SIMULATED,
            soft_wrap=True,
        )
    for key, reason in graded.failed.items():
        console.print(
            f"The grader failed, which says nothing of the model: {reason} ({key[:12]})",
            soft_wrap=True,
            markup=False,
        )
    console.print(
        f"{graded.new} submissions graded now, {graded.kept} had been before; all are in {store}. "
        f"Next: enso-jax leaderboard {store}",
        soft_wrap=True,
        markup=False,
    )


def _as_json(graded: "GradedRuns", kept: "Store") -> str:
    keys = sorted({checkpoint.key for run in graded.runs for checkpoint in run.checkpoints})
    results = {key: kept.result(key) for key in keys}
    content = {
        "runs": [run.model_dump(mode="json") for run in graded.runs],
        "results": {
            key: result.model_dump(mode="json")
            for key, result in results.items()
            if result is not None
        },
        "failed": dict(graded.failed),
    }
    return json_.dumps(content, indent=2, allow_nan=False) + "\n"
