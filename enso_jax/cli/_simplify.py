"""`enso-jax simplify`: the simplest form of a model that keeps its scores."""

import dataclasses
import enum
import json as json_
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
from enso_jax.own_process import set_up_jax

if TYPE_CHECKING:
    from enso_jax.checkpoints import ModelGrader
    from enso_jax.simplify import Criteria


class RefitChoice(enum.StrEnum):
    """How the terms that are left get their coefficients."""

    increments = enum.auto()
    likelihood = enum.auto()
    statistics = enum.auto()


class SearchChoice(enum.StrEnum):
    """Which reductions are looked at."""

    backward = enum.auto()
    exhaustive = enum.auto()


@dataclasses.dataclass(frozen=True)
class _Task:
    """What is asked for, whichever the model.

    Attributes:
        drop: groups; None for a search.
    """

    grader: "ModelGrader"
    criteria: "Criteria"
    refit: RefitChoice
    search: SearchChoice
    drop: str | None
    out: Path


def simplify(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Built-in models, folders of submissions, or runs, of which the final model counts.",
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
    done, status = [], 0
    with checkpoints.scheduler(scheduler or "here", device.value) as who:
        settings = checkpoints.settings_of(terms, checkpoints.engine_digest())
        grader = checkpoints.ModelGrader(kept, terms, settings, who, replicates)
        task = _Task(grader, wanted, refit, search, drop, out)
        for model in models:
            try:
                done.append(_simplified(model, task, isolation, calendar))
            except SimplifyError as fault:
                print(f"enso-jax: {model}: {fault}", file=sys.stderr)
                status = max(status, INVALID)
            except GroupError as fault:
                print(f"enso-jax: {model}: {fault}", file=sys.stderr)
                status = max(status, USAGE)
    if json:
        content = [one.model_dump(mode="json") for one in done]
        sys.stdout.write(json_.dumps(content, indent=2, allow_nan=False) + "\n")
    else:
        _show(done, out)
    return status
