"""`enso-jax observations`: the record that models are graded on."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from enso_jax.cli._options import MeasuredOnlyOption, ObservationsOption, record_of
from enso_jax.own_process import set_up_jax


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
