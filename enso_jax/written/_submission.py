"""How does a model of terms leave the engine? As a submission that anyone can read and edit.

In the NumPy form: its numbers and formulas are in `params.json`, as `term_model_to_json`
writes them, and `model.py` steps what it finds there. It is the same file for every model.
"""

import importlib.resources
from pathlib import Path
from typing import Final

from enso_jax.models import TermModel
from enso_jax.submissions import CARD, MODEL, PARAMETERS, new_folder, printable
from enso_jax.written._json import term_model_to_json

_WRITTEN: Final = importlib.resources.files("enso_jax.written") / "submission"

_CARD: Final = """\
# {title}

{provenance}

## State and calendar

x = [T_C, T_E, h_W, u, tau]: {conventions}

## Equations

{family}. Rounded to six digits; {parameters} has every number in full.

{equations}

dW are the increments of {noises}. {bound}

## Numerics

Euler-Maruyama; made for steps of 1/30 month.
"""


def write_submission(model: TermModel, folder: Path, *, title: str, provenance: str) -> None:
    """Makes `folder` a submission in the NumPy form that steps as `model` does.

    On the same noise it gives the same numbers, to rounding. Its terms may be added up in
    another order: those of one feature stand together.

    Args:
        model: whose numbers are finite, and whose features and factors are of the kinds that
            `enso_jax.models` has.
        folder: made if it is not there.
        title: what the model is, in one line.
        provenance: where its equations and numbers are from, in a few sentences.

    Raises:
        ModelFileError: if the model cannot be written as a text.
        OutputError: if there is something in `folder`, or it cannot be written.
    """
    parameters = term_model_to_json(model)
    with new_folder(folder) as place:
        (place / MODEL).write_bytes((_WRITTEN / MODEL).read_bytes())
        (place / PARAMETERS).write_text(parameters, encoding="utf-8")
        (place / CARD).write_text(_card(model, title, provenance), encoding="utf-8")


def _card(model: TermModel, title: str, provenance: str) -> str:
    bound = float(model.bound)
    return _CARD.format(
        title=printable(title),
        provenance=printable(provenance),
        conventions=model.conventions(),
        family=model.family.capitalize(),
        parameters=PARAMETERS,
        # Four spaces, so that Markdown leaves the formulas as they are.
        equations="\n".join(f"    {equation}" for equation in model.equations()),
        noises=(
            "independent Wiener processes"
            if model.mixing is None
            else f"Wiener processes that are correlated: {PARAMETERS} has their mixing"
        ),
        bound=(
            "Nothing bounds the state."
            if bound == float("inf")
            else f"x is kept within plus and minus {bound:g}."
        ),
    )
