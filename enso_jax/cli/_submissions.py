"""`enso-jax validate` and `enso-jax new`: a submission, checked or begun."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from enso_jax.cli._errors import INVALID
from enso_jax.cli._options import FormChoice, IsolationOption, existing_folder
from enso_jax.own_process import set_up_jax


def validate(
    submission: Annotated[Path, typer.Argument(help="The submission's folder.", metavar="DIR")],
    isolation: IsolationOption = None,
) -> int:
    """Check that a submission keeps the contract, in seconds and without observations.

    Example: enso-jax validate my-model
    """
    set_up_jax()
    from enso_jax.grading import validate_submission
    from enso_jax.tables import validation_lines

    found = validate_submission(existing_folder(submission), isolation)
    console = Console()
    for line in validation_lines(found):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    return INVALID if found.faults else 0


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
