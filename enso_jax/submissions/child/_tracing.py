"""How does a submission's step in NumPy become a function in JAX?

It is called with one member whose state, time and noise are traced, once for each way through
it; what it computes is recorded as a jaxpr, and no Python of the submission's runs again.
"""

import dataclasses
import dis
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
from jax import Array

from enso_jax.submissions.child._arrays import TracedArray, array, objects, scalar, wrapped
from enso_jax.submissions.child._branches import Paths
from enso_jax.submissions.child._cells import Cell, Trace, raw
from enso_jax.submissions.child._draws import NoiseGenerator
from enso_jax.submissions.child._errors import CannotTrace, Untraceable
from enso_jax.submissions.child._modules import imported
from enso_jax.submissions.child._operands import operand

_FLOAT = np.dtype(np.float64)
_SIZE = 5

#: How many normals a step may take.
_MOST_NOISE = 2048

_RAISE = dis.opmap["RAISE_VARARGS"]


@dataclasses.dataclass(frozen=True)
class TracedStep:
    """A step as a function in JAX, of one member.

    Attributes:
        function: ``(state (5,), t (), noise (q,)) -> state (5,)``, for the dt it was traced for.
        noise_size: q.
    """

    function: Callable[[Array, Array, Array], Array]
    noise_size: int


class TracedSource:
    """Noise that is read while tracing, one cell for each normal."""

    def __init__(self, cells: list[Cell]):
        self._cells = cells
        self.used = 0

    def take(self, shape: tuple[int, ...]) -> TracedArray:
        start, self.used = self.used, self.used + int(np.prod(shape, dtype=int))
        if self.used > len(self._cells):
            raise Untraceable(f"one step of one member draws more than {_MOST_NOISE} numbers")
        return array(objects(self._cells[start : self.used], shape), _FLOAT)

    def refuse(self, reason: str) -> NoReturn:
        raise Untraceable(reason)


def trace_step(folder: Path, dt: float) -> TracedStep:
    """The step of the submission in a folder, for one dt.

    Raises:
        CannotTrace: with the first thing that has no counterpart in JAX.
    """
    if not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
        raise RuntimeError("tracing is in double precision: set jax_enable_x64")
    folder = Path(folder).resolve()
    noise_size = 0

    def compute(state: list[Array], t: Array, noise: list[Array]) -> Array:
        nonlocal noise_size
        trace = Trace()
        cells = [[Cell(trace, v, _FLOAT) for v in values] for values in (state, [t], noise)]
        paths = Paths(trace)

        def run() -> list[Any]:
            nonlocal noise_size
            source = TracedSource(cells[2])
            result = _call_step(folder, cells[0], cells[1][0], dt, source)
            noise_size = max(noise_size, source.used)
            return result

        try:
            paths.follow(run)
        except (Exception, Untraceable) as error:
            raise _located(error, folder) from error
        return jnp.stack([jnp.asarray(raw(number, _FLOAT)) for number in paths.joined(_FLOAT)])

    number = jax.ShapeDtypeStruct((), _FLOAT)
    jaxpr = jax.make_jaxpr(compute)([number] * _SIZE, number, [number] * _MOST_NOISE)
    return TracedStep(_as_function(jaxpr, noise_size), noise_size)


def _as_function(jaxpr: Any, noise_size: int) -> Callable:
    """The jaxpr, of arrays. It has more inputs than noise is read, which get anything."""
    evaluate = jax.extend.core.jaxpr_as_fun(jaxpr)

    def function(state: Array, t: Array, noise: Array) -> Array:
        numbers = [state[i] for i in range(_SIZE)]
        draws = [noise[i] for i in range(noise_size)]
        unread = [jnp.zeros((), _FLOAT)] * (_MOST_NOISE - noise_size)
        return evaluate(*numbers, t, *draws, *unread)[0]

    return function


def _call_step(folder: Path, state: list[Cell], t: Cell, dt: float, source: TracedSource) -> Any:
    """One way through the step: five numbers, NaN where it raises what it says itself."""
    with imported(folder) as model:
        try:
            result = model.step(
                array(objects(state, (1, _SIZE)), _FLOAT),
                scalar(t, _FLOAT, python=True),
                dt,
                NoiseGenerator(source),
            )
        except Exception as error:
            if t.trace.possible and _is_raised(error, folder):
                return [float("nan")] * _SIZE
            raise
        return _numbers(result)


def _numbers(result: Any) -> list[Any]:
    """The new state that a step returned."""
    if not isinstance(result, TracedArray | np.ndarray | list):
        raise Untraceable(f"step returned {type(result).__name__}, not an array")
    found = operand(result)
    if found.values.shape != (1, _SIZE):
        raise Untraceable(f"step returned an array of shape {found.values.shape}, not (1, {_SIZE})")
    if found.dtype not in (np.dtype(np.float32), _FLOAT):
        raise Untraceable(f"step returned an array of {found.dtype}, not of float32 or float64")
    return list(operand(wrapped(found.values, found.dtype).astype(_FLOAT)).values.flat)


# --- Where it went wrong ----------------------------------------------------------------------


def _frames(error: BaseException, folder: Path) -> list[Any]:
    """The places in the submission that an error went through, innermost last."""
    steps, step = [], error.__traceback__
    while step is not None:
        steps.append(step)
        step = step.tb_next
    return [s for s in steps if Path(s.tb_frame.f_code.co_filename).is_relative_to(folder)]


def _is_raised(error: Exception, folder: Path) -> bool:
    """Whether the submission raised the error itself, by ``raise`` or ``assert``."""
    frames = _frames(error, folder)
    if not frames or frames[-1].tb_next is not None:
        return False
    return frames[-1].tb_frame.f_code.co_code[frames[-1].tb_lasti] == _RAISE


def _located(error: BaseException, folder: Path) -> CannotTrace:
    """What went wrong, with the innermost line of the submission's."""
    reason = str(error)
    if not isinstance(error, Untraceable):
        reason = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, SyntaxError) and error.filename:
        return CannotTrace(
            f"SyntaxError: {error.msg}", _relative(error.filename, folder), error.lineno
        )
    frames = _frames(error, folder)
    if not frames:
        return CannotTrace(reason)
    innermost = frames[-1]
    file = _relative(innermost.tb_frame.f_code.co_filename, folder)
    return CannotTrace(reason, file, innermost.tb_lineno)


def _relative(file: str, folder: Path) -> str:
    path = Path(file)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else file
