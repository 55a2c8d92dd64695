"""`enso-jax grade`: one model's scores, and what they rest on."""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.markup import escape

from enso_jax.cli._errors import INVALID
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
    SeedOption,
    existing_folder,
    protocol_of,
    record_of,
)
from enso_jax.cli._progress import stage_progress
from enso_jax.own_process import set_up_jax
from enso_jax.wording import AGAINST_SIMULATED, counted

if TYPE_CHECKING:
    from enso_jax.grading import Grade, GradeResult
    from enso_jax.models import PublishedScores

_SCORES: Final = "scores.json"
_EXPERIMENTS: Final = "experiments.nc"
_FIGURE: Final = "scorecard.png"
#: The scores come last: once they are there, so is what they rest on.
_FILES: Final = (_EXPERIMENTS, _FIGURE, _SCORES)


def grade(
    submission: Annotated[
        str, typer.Argument(help="A folder, or the name of a built-in model (`enso-jax models`).")
    ],
    observations: ObservationsOption = None,
    seed: SeedOption = 0,
    replicates: ReplicatesOption = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Write {_SCORES}, {_EXPERIMENTS} and {_FIGURE} here."),
    ] = None,
    measured_only: MeasuredOnlyOption = False,
    precision: PrecisionOption = Precision.mixed,
    isolation: IsolationOption = None,
    engine: EngineOption = EngineChoice.auto,
    calendar: CalendarOption = None,
    device: DeviceOption = DeviceChoice.auto,
    json: JsonOption = False,
) -> int:
    """Grade a model on statistics, dynamics and prediction.

    Example: enso-jax grade fable-5.1 --replicates 8 --out graded/fable-5.1
    """
    set_up_jax(device=device.value)
    from enso_jax.files import whole_set
    from enso_jax.grading import STAGES

    grader, published = _grader(submission, isolation, engine, calendar)
    record, protocol = record_of(observations, measured_only), protocol_of(precision)
    # Opened before the work, so that a folder that cannot be written costs no time.
    opened = contextlib.nullcontext() if out is None else whole_set(out, _FILES)
    with opened as staging, stage_progress(STAGES) as done:
        graded = grader(record, protocol, seed=seed, replicates=replicates, done=done)
        if staging is not None:
            _write(graded, staging)
    if json:
        sys.stdout.write(graded.result.to_json())
    else:
        _show(graded.result, published, out)
    return 0 if graded.result.outcome == "scored" else INVALID


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
            existing_folder(path),
            isolation=isolation,
            engine=None if engine is EngineChoice.auto else engine.value,
            months_at_1_january=calendar,
        )
        return grader, None
    model = built_in(submission)
    step = model.build()
    about = grading.submission(step, model.name, form="built-in")
    return functools.partial(grading.grade, step, about), model.published


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
        f"{counted(result.replicates, 'replicate')}, seed {result.seed}, "
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
        yield AGAINST_SIMULATED
    if result.observations.stand_ins:
        yield (
            f"{counted(result.observations.stand_ins, 'value')} of the record in use are "
            "stand-ins, not measurements; --measured-only leaves them out."
        )
    if published is not None and result.outcome == "scored":
        yield f"Printed: in the paper, on the measured record, of {published.of}."
    if result.replicates == 1 and result.outcome == "scored":
        yield "One replicate: S alone is uncertain by about 0.02; --replicates 8 measures it."
