"""Which models come with the engine?

Each built-in model is graded by its name, like a submission. It carries where its
coefficients are from and, where there are some, the scores that were published.
"""

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from typing import Final

from enso_jax.models._fable import fable, fable_simplified
from enso_jax.models._multiscale import multiscale_5
from enso_jax.models._term_model import TermModel


class UnknownModelError(KeyError):
    """No built-in model has that name. Its text is one sentence with near names."""

    def __str__(self) -> str:
        return self.args[0]


@dataclasses.dataclass(frozen=True)
class PublishedScores:
    """Scores printed in the paper, and for what: `of` says when it is not the same model."""

    statistical: float
    dynamical: float
    predictive: float
    composite: float
    of: str


@dataclasses.dataclass(frozen=True)
class BuiltInModel:
    """A model that is graded by name.

    Attributes:
        name: what to type.
        title: what it is, in one line.
        provenance: where its equations and coefficients are from.
        published: its printed scores, None where there are none.
        build: makes the model.
    """

    name: str
    title: str
    provenance: str
    published: PublishedScores | None
    build: Callable[[], TermModel]


_PAPER: Final = "SciExam for ENSO (arXiv:2610.10513)"

_MODELS: Final = (
    BuiltInModel(
        "fable-5.1",
        "the paper's highest-scoring agent-built model (Claude Fable 5.1, final checkpoint)",
        f"{_PAPER}, Appendix E.1, original parameters",
        PublishedScores(0.715, 0.639, 0.274, 0.515, "the same model, one seed"),
        fable,
    ),
    BuiltInModel(
        "fable-5.1-simplified",
        "its simplified form: linear drift, 34 drift coefficients, the same noise",
        f"{_PAPER}, Appendix E.1, reduced coefficients",
        PublishedScores(0.810, 0.600, 0.297, 0.542, "the same model, one seed"),
        fable_simplified,
    ),
    BuiltInModel(
        "multiscale-5",
        "a stand-in for the paper's published reference: the multiscale model, background fixed",
        "Chen, Fang & Yu 2022 (10.1038/s41612-022-00241-x), parameters of 10.1175/JCLI-D-24-0017.1",
        PublishedScores(0.727, 0.323, 0.157, 0.378, "the published reference it stands in for"),
        multiscale_5,
    ),
)

BUILT_IN: Final[Mapping[str, BuiltInModel]] = {model.name: model for model in _MODELS}


def built_in(name: str) -> BuiltInModel:
    """The built-in model called `name`.

    Raises:
        UnknownModelError: if there is none.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    near = difflib.get_close_matches(name, BUILT_IN, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(BUILT_IN)}."
    raise UnknownModelError(f"There is no model called {name!r}: {hint}")
