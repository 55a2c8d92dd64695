"""What does the submission's own step do, run as it is?

Loads `model.py` with the real NumPy and JAX, tells its form, and calls its step while
holding it to the contract.
"""

import dataclasses
import importlib.util
import inspect
import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from enso_jax.submissions._contract import (
    FORM_BY_PARAMETER,
    MODEL,
    PARAMETERS,
    Category,
    Form,
    InvalidSubmission,
)
from enso_jax.submissions.child._draws import SharedDraw
from enso_jax.submissions.child._errors import CannotTrace

VARIABLES = 5


@dataclasses.dataclass(frozen=True)
class Original:
    """A loaded submission.

    Attributes:
        folder: where its files lie.
        form: which of the two.
        step: its function, as it is.
    """

    folder: Path
    form: Form
    step: Callable[..., Any]


def load(folder: Path) -> Original:
    """Imports `model.py` in `folder`.

    Raises:
        InvalidSubmission: if that fails, or there is no step of the contract's signature.
    """
    # Last on the path: a file beside the model never stands in for an installed module.
    sys.path.append(str(folder))
    try:
        spec = importlib.util.spec_from_file_location("model", folder / MODEL)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["model"] = module
        spec.loader.exec_module(module)
    except BaseException as error:
        raise fault("import_error", "importing model.py failed", error, folder) from error
    step = getattr(module, "step", None)
    if not callable(step):
        raise InvalidSubmission(
            "bad_signature", "model.py has no function step: define step(state, t, dt, rng)."
        )
    return Original(folder, form_of(step), step)


def form_of(step: Callable[..., Any]) -> Form:
    """The form that the fourth parameter's name tells."""
    advice = "it must be step(state, t, dt, rng) or step(state, t, dt, key, params)"
    try:
        parameters = list(inspect.signature(step).parameters.values())
    except (ValueError, TypeError) as error:
        raise InvalidSubmission("bad_signature", f"step cannot be read: {advice}.") from error
    form = FORM_BY_PARAMETER.get(parameters[3].name) if len(parameters) > 3 else None
    given = 4 if form == "numpy" else 5
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    if form is None or len(required) > given or (form == "jax" and len(parameters) < given):
        names = ", ".join(parameter.name for parameter in parameters)
        raise InvalidSubmission("bad_signature", f"step has the parameters ({names}): {advice}.")
    return form


def parameters(folder: Path) -> Any:
    """`params.json` with its numbers and nested lists of numbers as JAX arrays."""
    import jax.numpy as jnp

    def converted(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: converted(part) for key, part in value.items()}
        if isinstance(value, bool) or value is None or isinstance(value, str):
            return value
        try:
            return jnp.asarray(np.asarray(value, dtype=float))
        except (TypeError, ValueError):
            return [converted(part) for part in value]

    return converted(json.loads((folder / PARAMETERS).read_text("utf-8")))


def call(original: Original, state: np.ndarray, t: float, dt: float, rng: Any) -> np.ndarray:
    """One step of a NumPy submission: (N, 5) -> (N, 5), float64, checked.

    Raises:
        InvalidSubmission: if it raises, or returns something else.
    """
    try:
        result = original.step(np.array(state), t, dt, rng)
    except (CannotTrace, SharedDraw):  # of the draws that we give it, not of its own
        raise
    except BaseException as error:
        members = "1 member" if len(state) == 1 else f"{len(state)} members"
        where = f"step failed at t = {t:.6g}, dt = {dt:.4g} with {members}"
        raise fault("raises", where, error, original.folder) from error
    return checked(result, state.shape)


def checked(result: Any, shape: tuple[int, ...]) -> np.ndarray:
    """What a step returned, as a float64 array of `shape`."""
    wanted = f"return a numpy.ndarray of floats of shape {shape}"
    if isinstance(result, list):
        try:
            result = np.array(result)
        except ValueError as error:
            raise InvalidSubmission(
                "wrong_shape", f"step returned a ragged list: {wanted}."
            ) from error
    if type(result) is not np.ndarray:
        raise InvalidSubmission("wrong_dtype", f"step returned {type(result).__name__}: {wanted}.")
    if result.dtype not in (np.float32, np.float64):
        raise InvalidSubmission("wrong_dtype", f"step returned {result.dtype}: {wanted}.")
    if result.shape != shape:
        raise InvalidSubmission("wrong_shape", f"step returned shape {result.shape}: {wanted}.")
    return np.array(result, dtype=np.float64)


def fault(category: Category, where: str, error: BaseException, folder: Path) -> InvalidSubmission:
    """An exception of the submission's as an outcome, with file and line."""
    # As NumPy and as JAX say it.
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in _text(error):
        category = "memory"
    place = position(error, folder)
    text = " ".join(_text(error).split())[:300]
    return InvalidSubmission(category, f"{where}: {type(error).__name__}: {text}{place}.")


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception of the submission's making may not even print
        return "it says nothing"


def position(error: BaseException, folder: Path) -> str:
    """`` (model.py, line 12)`` for the innermost frame in `folder`; empty if there is none."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({Path(error.filename).name}, line {error.lineno})"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).is_relative_to(folder):
            return f" ({Path(frame.filename).relative_to(folder)}, line {frame.lineno})"
    return ""
