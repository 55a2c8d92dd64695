"""`enso-jax`: the commands.

Each command reads its input, calls the library and prints what came of it. Tables
and progress go to the terminal; with `--json` the result alone goes to stdout and
everything else to stderr. Exit status: 0 scored, 1 invalid, 2 usage or missing
input, 3 grader error. The library is imported inside the commands: `--help` and a
mistyped option answer at once.
"""

import sys
from typing import Annotated

import typer

from enso_jax.cli._benchmark import benchmark
from enso_jax.cli._errors import report
from enso_jax.cli._grade import grade
from enso_jax.cli._grade_run import grade_run
from enso_jax.cli._leaderboard import leaderboard
from enso_jax.cli._models import models
from enso_jax.cli._observations import build, check, fetch, show
from enso_jax.cli._simplify import simplify
from enso_jax.cli._submissions import new, validate

app = typer.Typer(
    help="Grades low-order stochastic models of El Nino.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
observations_app = typer.Typer(help="The record that models are graded on.", no_args_is_help=True)


def main() -> None:
    """Runs the command line; every error becomes one sentence and an exit status."""
    try:
        status = app(standalone_mode=False)
    except Exception as error:
        sys.exit(report(error))
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


for command in (grade, grade_run, leaderboard, simplify, validate, new, models, benchmark):
    app.command()(command)
for command in (show, fetch, build, check):
    observations_app.command()(command)
app.add_typer(observations_app, name="observations")
