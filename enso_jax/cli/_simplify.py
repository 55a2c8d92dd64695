"""`enso-jax simplify`: the simplest form of a model that keeps its scores."""

import contextlib
import enum
import functools
import json as json_
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from enso_jax.cli._console import wide_console
from enso_jax.cli._errors import INVALID, USAGE
from enso_jax.cli._options import (
    CalendarOption,
    DeviceChoice,
    DeviceOption,
    IsolationOption,
    JsonOption,
    MeasuredOnlyOption,
    ObservationsOption,
    Precision,
    PrecisionOption,
    SchedulerOption,
    SeedOption,
    StoreOption,
    protocol_of,
    record_of,
)
from enso_jax.cli._simplified_files import write_simplified
from enso_jax.own_process import set_up_jax
from enso_jax.wording import AGAINST_SIMULATED, counted

if TYPE_CHECKING:
    from enso_jax.checkpoints import ModelGrader
    from enso_jax.grading import Submission
    from enso_jax.models import Step
    from enso_jax.protocol import Protocol
    from enso_jax.simplify import Criteria, FoundStructure, Simplification


class RefitChoice(enum.StrEnum):
    """How the terms that are left get their coefficients."""

    increments = enum.auto()
    likelihood = enum.auto()
    statistics = enum.auto()


class SearchChoice(enum.StrEnum):
    """Which reductions are looked at."""

    backward = enum.auto()
    exhaustive = enum.auto()


def simplify(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Built-in models, folders of submissions, or runs (of which the final model).",
            metavar="MODEL...",
        ),
    ],
    drop: Annotated[
        str | None,
        typer.Option(metavar="GROUP,...", help="Drop these groups, and search no others."),
    ] = None,
    refit: Annotated[
        RefitChoice, typer.Option(help="How the terms that are left get their coefficients.")
    ] = RefitChoice.increments,
    search: Annotated[
        SearchChoice, typer.Option(help="exhaustive tries every subset of at most 12 groups.")
    ] = SearchChoice.backward,
    criteria: Annotated[
        str,
        typer.Option(
            metavar="NAME=SHARE,...",
            help="What a reduction keeps: composite=0.95, dimension=0.9, skewness=0.5, and the "
            "composite from which skewness counts, asymmetry_from=0.24.",
        ),
    ] = "",
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where a folder for each model is written.")
    ] = Path("simplified"),
    store: StoreOption = Path("store"),
    observations: ObservationsOption = None,
    measured_only: MeasuredOnlyOption = False,
    seed: SeedOption = 0,
    replicates: Annotated[
        int, typer.Option(min=1, help="Independent repetitions for what one leaves close.")
    ] = 4,
    precision: PrecisionOption = Precision.mixed,
    isolation: IsolationOption = None,
    calendar: CalendarOption = None,
    scheduler: SchedulerOption = None,
    device: DeviceOption = DeviceChoice.auto,
    json: JsonOption = False,
) -> int:
    """Drop groups of terms, refit the rest, and find the simplest form that keeps the scores.

    Example: enso-jax simplify fable-5.1 --out simplified
    """
    set_up_jax(device=device.value)
    from enso_jax import checkpoints
    from enso_jax.grading import Terms
    from enso_jax.simplify import Criteria, GroupError, SimplifyError

    record, protocol = record_of(observations, measured_only), protocol_of(precision)
    kept, wanted = checkpoints.open_store(store), Criteria.of(criteria)
    terms = Terms.of(record, protocol, seed, replicates)
    settings = checkpoints.settings_of(terms, checkpoints.engine_digest())
    done, status = [], 0
    with checkpoints.scheduler(scheduler, device.value) as who:
        grader = checkpoints.ModelGrader(kept, terms, settings, who, replicates)
        how = functools.partial(
            _simplified,
            grader=grader,
            criteria=wanted,
            drop=drop,
            search=search.value,
            refit=refit.value,
            out=out,
        )
        for name in models:
            try:
                done.append(how(_model(name, protocol, isolation, calendar)))
            except (SimplifyError, GroupError) as fault:
                print(f"enso-jax: {name}: {fault}", file=sys.stderr)
                status = max(status, USAGE if isinstance(fault, GroupError) else INVALID)
    if json:
        content = [one.model_dump(mode="json") for one in done]
        sys.stdout.write(json_.dumps(content, indent=2, allow_nan=False) + "\n")
    else:
        _show(done, out)
    return status


def _model(
    name: str, protocol: "Protocol", isolation: str | None, calendar: float | None
) -> tuple[str, "Step", "Submission"]:
    """A name for a folder, the model, and what its results say of it."""
    from enso_jax.checkpoints import read_run
    from enso_jax.grading import submission
    from enso_jax.models import built_in
    from enso_jax.submissions import MODEL, name_of

    path = Path(name)
    if not path.exists() and "/" not in name:
        step = built_in(name).build()
        return name, step, submission(step, name, form="built-in")
    if (path / MODEL).exists():
        return name_of(path), *_compiled(path, protocol, isolation, calendar)
    run = read_run(path)
    step, about = _compiled(run.checkpoints[-1].folder, protocol, isolation, calendar)
    return run.name, step, about.model_copy(update={"name": run.system})


def _compiled(
    folder: Path, protocol: "Protocol", isolation: str | None, calendar: float | None
) -> tuple["Step", "Submission"]:
    from enso_jax.grading import examine_submission
    from enso_jax.simplify import SimplifyError
    from enso_jax.submissions import InvalidSubmission, choose, read_folder

    try:
        examined = examine_submission(
            read_folder(folder), protocol, choose(isolation), months_at_1_january=calendar
        )
    except InvalidSubmission as fault:
        raise SimplifyError(f"It is invalid: {fault}") from fault
    if examined.step is None:
        raise SimplifyError(
            f"Only a model that can be compiled can be simplified: {examined.about.not_compiled}"
        )
    return examined.step, examined.about


def _simplified(
    model: tuple[str, "Step", "Submission"],
    *,
    grader: "ModelGrader",
    criteria: "Criteria",
    drop: str | None,
    search: str,
    refit: str,
    out: Path,
) -> "Simplification":
    """Simplifies one model and writes what comes of it."""
    from enso_jax.files import whole_folder
    from enso_jax.simplify import backward, exhaustive, only, simplify

    folder, step, about = model
    searches = {"backward": backward, "exhaustive": exhaustive}
    wanted = searches[search] if drop is None else only(drop.split(","))
    with whole_folder(out / folder) as place:
        with _progress(about.name) as (stage, expected, done):
            found = simplify(
                step,
                about,
                wanted,
                grader,
                criteria=criteria,
                refit=refit,
                search_name=search if drop is None else "as asked",
                stage=stage,
                expected=expected,
                done=done,
            )
        write_simplified(found, grader.terms, place)
    return found.result


@contextlib.contextmanager
def _progress(
    name: str,
) -> Iterator[tuple[Callable[[str], None], Callable[[int], None], Callable[[], None]]]:
    """A bar on a terminal, nothing on a pipe; how many are to be graded grows as a search goes."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        bar = progress.add_task(name, total=None)
        count = 0

        def expected(models: int) -> None:
            nonlocal count
            count += models
            progress.update(bar, total=count)

        yield (
            lambda stage: progress.update(bar, description=f"{name}: {stage}"),
            expected,
            lambda: progress.advance(bar),
        )


def _show(found: "list[Simplification]", out: Path) -> None:
    from enso_jax.tables import reduction_table, structure_table

    console = wide_console()
    for one in found:
        console.print(
            f"[bold]{escape(one.name)}[/bold] on {escape(one.observations.name)}, "
            f"{counted(one.replicates, 'replicate')}, seed {one.seed}, refit by {one.refit}"
        )
        console.print(reduction_table(one))
        if one.found is not None:
            console.print(_found_line(one.found), soft_wrap=True)
        console.print(_sentence(one), soft_wrap=True, markup=False)
    if len(found) > 1:
        console.print(structure_table(found))
    if any(one.observations.kind == "simulated" for one in found):
        console.print(AGAINST_SIMULATED, soft_wrap=True)
    if found:
        console.print(f"Written to {out}", soft_wrap=True, markup=False)


def _found_line(found: "FoundStructure") -> str:
    """How well the terms that were found describe the model."""
    drift, noise = min(found.drift_share.values()), min(found.noise_share.values())
    return (
        f"Its terms were found along its own run: they explain at least {drift:.5f} of the "
        f"variance of each equation's drift, and {noise:.5f} of the size of its noise."
    )


def _sentence(one: "Simplification") -> str:
    """What the simplification comes to."""
    if one.choice is None:
        return f"No reduction of {one.name} keeps its scores."
    if not one.choice.dropped:
        return f"Nothing can be dropped from {one.name}: it has {_kind(one.choice.structure)}."
    coefficients = f"{one.choice.drift_coefficients} of {one.submitted.drift_coefficients}"
    if not one.choice.kept:
        return (
            f"{one.name} without these groups has {_kind(one.choice.structure)} and "
            f"{coefficients} drift coefficients; it does not keep its scores: "
            f"{one.choice.verdict}."
        )
    sentence = (
        f"The simplest form of {one.name} that keeps its scores has "
        f"{_kind(one.choice.structure)}, and {coefficients} drift coefficients."
    )
    return f"{sentence} {_either(one)}" if len(one.families) > 1 else sentence


def _either(one: "Simplification") -> str:
    """What it means that both families keep the scores."""
    first, second = sorted(
        (one.reductions[place] for place in one.families.values()),
        key=lambda reduction: -reduction.scores.composite,
    )
    lead = first.scores.composite - second.scores.composite
    errors = [end.change_errors.composite for end in (first, second) if end.change_errors]
    if lead <= 2.0 * math.hypot(*errors):
        return (
            "Both families keep them about as well: the scores cannot tell which explanation of "
            "the asymmetry it relies on."
        )
    return f"So does {_kind(second.structure)}, with a composite lower by {lead:.3f}."


def _kind(structure: str) -> str:
    drift, noise = structure.split("-")
    return f"{drift} drift and {noise} noise"
