"""`enso-jax models`: what is built in."""

from typing import Annotated

import typer
from rich.console import Console

from enso_jax.own_process import set_up_jax


def models(
    name: Annotated[str | None, typer.Argument(help="Print this model's equations.")] = None,
) -> None:
    """List the built-in models, or print the equations of one.

    Example: enso-jax models fable-5.1
    """
    set_up_jax()
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
