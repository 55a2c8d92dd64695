"""What must a submission be? The contract, as data that every refusal quotes.

A submission is a folder with `model.py`, `params.json` and `MODEL_CARD.md`; other files
may lie beside them. `model.py` has a function `step` in one of two forms, told apart by
the name of its fourth parameter:

- NumPy: ``step(state, t, dt, rng)``, state (N, 5), rng a `numpy.random.Generator`;
  returns (N, 5).
- JAX: ``step(state, t, dt, key, params)``, state (5,), params the parsed `params.json`
  with numbers and nested lists of numbers as arrays; returns (5,).

State is T_C, T_E (degC), h_W (m), u, tau (m/s); t and dt are months, and t = 0 is
1 January 00:00 unless `submission.toml` says ``[calendar] months_at_1_january``. The step is
a function of its arguments alone, one member does not influence another, and it is
defined for any N, for dt from 1/30 to 1, t from 0 to 27,600 and states somewhat beyond
the observed range.
"""

import dataclasses
from typing import Final, Literal, get_args

MODEL: Final = "model.py"
PARAMETERS: Final = "params.json"
CARD: Final = "MODEL_CARD.md"
REQUIRED_FILES: Final = (MODEL, PARAMETERS, CARD)
SETTINGS: Final = "submission.toml"
#: What the harness writes beside a submission, and is no part of it.
CHECKPOINT: Final = "checkpoint.json"

#: Bytes of `params.json`, and of all files together.
PARAMETERS_LIMIT: Final = 2**20
FOLDER_LIMIT: Final = 16 * 2**20
FILES_LIMIT: Final = 1000

LONGEST_T_MONTHS: Final = 27_600.0
#: The size of ordinary states, in the order and units of the variables: where a step is tried.
TYPICAL_STATE: Final = (0.65, 0.9, 13.0, 0.13, 2.7)

Form = Literal["numpy", "jax"]
#: The fourth parameter's name in each form.
FORM_BY_PARAMETER: Final[dict[str, Form]] = {"rng": "numpy", "key": "jax"}


@dataclasses.dataclass(frozen=True)
class Patience:
    """How long a submission may take, in seconds of wall time.

    Attributes:
        start_s: for the sandbox and the libraries, before its own code runs.
        import_s: for importing `model.py`.
        check_s, trace_s: for all checks together; for tracing.
        advance_s: for a call of the host engine: ten years of one member, or a month of hundreds.
        host_s: for all that the host engine does in a replicate.
    """

    start_s: float = 30.0
    import_s: float = 60.0
    check_s: float = 60.0
    trace_s: float = 120.0
    advance_s: float = 120.0
    host_s: float = 3600.0


Category = Literal[
    "missing_file",
    "not_python",
    "import_error",
    "bad_params",
    "bad_signature",
    "wrong_shape",
    "wrong_dtype",
    "raises",
    "non_finite",
    "timeout",
    "memory",
    "worker_died",
    "isolation_violation",
    "member_dependence",
    "nondeterminism",
]
CATEGORIES: Final[tuple[Category, ...]] = get_args(Category)


class InvalidSubmission(Exception):  # noqa: N818 - an outcome, not an error of ours
    """A submission breaks the contract. It scores 0.

    Attributes:
        category: one of `CATEGORIES`.
        message: one sentence: what is wrong, where, and what to do.
    """

    def __init__(self, category: Category, message: str) -> None:
        self.category: Category = category
        self.message = printable(message)
        super().__init__(self.message)


def printable(text: str) -> str:
    """`text` as it can be shown anywhere: one line, without what no terminal or file can hold."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(letter if letter.isprintable() else " " for letter in whole).strip()


class NoSuchFolder(Exception):  # noqa: N818 - the user's slip, not a fault of a submission
    """A submission's folder is not there. Its text is one sentence."""
