"""`enso-jax benchmark`: how fast the engine is on this machine."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from enso_jax.cli._options import (
    DeviceChoice,
    DeviceOption,
    JsonOption,
    ObservationsOption,
    record_of,
)
from enso_jax.cli._progress import stage_progress
from enso_jax.own_process import set_up_jax

if TYPE_CHECKING:
    from enso_jax.benchmark import Report


def benchmark(
    observations: ObservationsOption = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="PART,...",
            help="Of floor, engines, start, stacked, sweep, growth, precision, memory; else all.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller sizes, fewer repetitions: a first look.")
    ] = False,
    device: DeviceOption = DeviceChoice.auto,
    json: JsonOption = False,
) -> None:
    """Measure the engine's speed, in minutes, as ratios of times taken on this machine.

    Example: enso-jax benchmark --quick --only floor,start
    """
    set_up_jax(device=device.value)
    from enso_jax.benchmark import PARTS, Setting, run_benchmark

    parts = _chosen(only, tuple(PARTS))
    setting = Setting.of(record_of(observations, measured_only=False), observations, quick)
    with stage_progress(parts, doing="measuring") as done:
        report = run_benchmark(setting, parts, done)
    if json:
        sys.stdout.write(report.to_json())
    else:
        _show(report)


def _chosen(only: str | None, parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts that were asked for, in their own order."""
    if only is None:
        return parts
    asked = {part.strip() for part in only.split(",")}
    if unknown := sorted(asked - set(parts)):
        raise typer.BadParameter(
            f"There is no part {unknown[0]!r} of the benchmark: choose from {', '.join(parts)}."
        )
    return tuple(part for part in parts if part in asked)


def _show(report: "Report") -> None:
    from enso_jax.benchmark import report_tables

    console, machine = Console(), report.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    cores = "1 core" if machine.cores == 1 else f"{machine.cores} cores"
    load = "" if machine.load is None else f"load {machine.load:.1f} at the start, "
    console.print(
        f"enso-jax {report.engine_version} on {escape(machine.cpu)}, {cores}, "
        f"{load}{escape(machine.device)}; {versions}; {escape(report.observations)} "
        f"({report.observations_kind})",
        soft_wrap=True,
        highlight=False,
    )
    for table in report_tables(report):
        console.print()
        console.print(table, highlight=False)
    for part, reason in report.skipped.items():
        console.print(f"Skipped {part}: {escape(reason)}", soft_wrap=True)
    if report.quick:
        console.print("A quick look, with smaller sizes: ratios are rough.")
