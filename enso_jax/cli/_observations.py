"""`enso-jax observations`: the record that models are graded on."""

import enum
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from enso_jax.cli._errors import INVALID
from enso_jax.cli._options import JsonOption, MeasuredOnlyOption, ObservationsOption, record_of
from enso_jax.cli._progress import bytes_progress, stage_progress
from enso_jax.own_process import set_up_jax

if TYPE_CHECKING:
    from enso_jax.observations.check import CheckResult, Explanation
    from enso_jax.observations.fetch import Plan
    from enso_jax.observations.indices import Built

LastYearOption = Annotated[
    int,
    typer.Option(metavar="YEAR", min=2015, max=2100, help="Last year of the held-out period."),
]


class WayChoice(enum.StrEnum):
    """How fields come from NOAA."""

    opendap = enum.auto()
    http = enum.auto()


def show(
    observations: ObservationsOption = None,
    measured_only: MeasuredOnlyOption = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the record into a .png, .pdf or .svg.")
    ] = None,
) -> None:
    """Summarise and draw the record in use.

    Example: enso-jax observations show --out record.png
    """
    set_up_jax()
    from enso_jax.tables import record_sparklines, record_tables

    record = record_of(observations, measured_only)
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


def fetch(
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the raw fields are kept; else the user's data."),
    ] = None,
    by: Annotated[
        WayChoice,
        typer.Option(help="In parts over OPeNDAP, or whole files over HTTP, which is far more."),
    ] = WayChoice.opendap,
    last_year: LastYearOption = 2024,
) -> None:
    """Bring the raw fields from NOAA, build the record and install it as the default.

    Run again after an interruption, it goes on where it was.

    Example: enso-jax observations fetch
    """
    set_up_jax()
    from enso_jax.observations.fetch import fetch as bring
    from enso_jax.observations.fetch import plan, raw_folder
    from enso_jax.observations.indices import install

    console = Console(stderr=True)
    planned = plan(out or raw_folder(), last_year, by.value)
    for line in _plan_lines(planned):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    with bytes_progress("fetching", planned.bytes) as advance:
        bring(planned, advance)
    record, folder = install(_build(planned.folder, last_year))
    console.print(f"{record.name} is installed in {folder}", soft_wrap=True, markup=False)


def build(
    raw: Annotated[Path, typer.Argument(metavar="RAW", help="The folder with the raw fields.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The record's folder, not there yet.")],
    anonymize: Annotated[
        bool, typer.Option("--anonymize", help="Replace calendar years by relative ones.")
    ] = False,
    last_year: LastYearOption = 2024,
) -> None:
    """Build a record from raw fields: the five indices, the SST profile, events and peaks.

    RAW holds NetCDF files with sst, pottmp, ucur and daily uwnd, in whatever layout, and perhaps
    PSL's long Nino-3 and Nino-4 series.

    Example: enso-jax observations build raw --out record
    """
    set_up_jax()
    from enso_jax.observations.indices import anonymous_built, write_built
    from enso_jax.tables import record_tables

    built = _build(raw, last_year)
    record = write_built(anonymous_built(built) if anonymize else built, out)
    console = Console()
    console.print(
        f"[bold]{escape(record.name)}[/bold] ({record.kind}): {escape(record.description)}"
    )
    for table in record_tables(record):
        console.print(table)
    console.print(f"Written to {out}", soft_wrap=True, markup=False)


def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV or NetCDF: month, T_C, T_E, h_W, u, tau.")
    ],
    observations: ObservationsOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say which known mistake gives the difference.")
    ] = False,
    raw: Annotated[
        Path | None,
        typer.Option(
            metavar="RAW",
            help="The reference's raw fields, for --explain; else those that fetch has left.",
        ),
    ] = None,
    json_only: JsonOption = False,
) -> None:
    """Compare indices with the record's development period, element by element.

    Exit status 0 if all five pass, 1 if one differs.

    Example: enso-jax observations check my-indices.csv --explain
    """
    set_up_jax()
    from enso_jax.observations.check import check_indices, read_candidate
    from enso_jax.tables import check_table

    record = record_of(observations, measured_only=False)
    candidate = read_candidate(file)
    result = check_indices(candidate, record.development)
    explanations = []
    if explain and not result.passed:
        from enso_jax.observations.check import explain as find_causes

        fields = _fields_for_explaining(raw, observations)
        explanations = find_causes(candidate, record.development, result, fields)
    if json_only:
        print(json.dumps(_check_json(result, explanations), indent=1))
    else:
        console = Console()
        console.print(f"Against {record.name} ({record.kind})", markup=False, highlight=False)
        console.print(check_table(result))
        for explanation in explanations:
            console.print(explanation.sentence(), soft_wrap=True, markup=False, highlight=False)
        console.print(result.feedback(), soft_wrap=True, markup=False, highlight=False)
    if not result.passed:
        raise typer.Exit(INVALID)


def _build(raw: Path, last_year: int) -> "Built":
    from enso_jax.observations.fetch import check_unchanged
    from enso_jax.observations.indices import Periods, build
    from enso_jax.state import NAMES

    check_unchanged(raw)
    periods = Periods(held_out=(Periods.held_out[0], last_year))
    with stage_progress(NAMES, "building") as on_index:
        built = build(raw, periods, on_index=on_index)
    console = Console(stderr=True)
    for note in built.notes:
        console.print(note, soft_wrap=True, markup=False, highlight=False)
    return built


def _plan_lines(planned: "Plan") -> list[str]:
    there = len(planned.wanted) - len(planned.missing)
    lines = [
        f"About {planned.bytes / 1e6:.1f} MB in {len(planned.missing)} files go to "
        f"{planned.folder}; {there} are there already."
    ]
    if planned.changed:
        lines.append(
            f"Changed since they were fetched, and fetched again: {', '.join(planned.changed)}"
        )
    return lines


def _fields_for_explaining(raw: Path | None, observations: Path | None):
    """The fields that were named, else those of the installed record, if it is the reference."""
    import os

    from enso_jax.observations import ENVIRONMENT_VARIABLE, installed_folder
    from enso_jax.observations.fetch import raw_folder
    from enso_jax.observations.fields import find_fields

    if raw is not None:
        return find_fields(raw)
    is_installed = observations is None and not os.environ.get(ENVIRONMENT_VARIABLE)
    if is_installed and installed_folder().exists() and raw_folder().is_dir():
        return find_fields(raw_folder())
    return None


def _check_json(result: "CheckResult", explanations: "list[Explanation]") -> dict[str, object]:
    from enso_jax.state import month_label

    return {
        "passed": result.passed,
        "feedback": result.feedback(),
        "indices": {
            index.name: {
                "passed": index.passed,
                "largest_difference": index.largest,
                "month": month_label(index.month),
                "missing_months": index.missing,
            }
            for index in result.indices
        },
        "explanations": {
            explanation.index: {
                "pitfall": explanation.pitfall,
                "says": explanation.says,
                "exact": explanation.exact,
            }
            for explanation in explanations
        },
    }
