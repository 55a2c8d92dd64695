"""Is a submission's step a program, and does the program do what the step does?

The step is traced in its form, encoded, and compared with the original on the same
noise: over observed states and beyond, several times and numbers of members. A
difference above rounding means that it is not compiled, never that it is scored wrong.
"""

from collections.abc import Callable
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from enso_jax.submissions._contract import TYPICAL_STATE, InvalidSubmission
from enso_jax.submissions._program_bytes import write_program
from enso_jax.submissions._program_of import NotAProgram, program_of
from enso_jax.submissions.child._checks import states
from enso_jax.submissions.child._draws import ArraySource, NoiseGenerator, SharedDraw
from enso_jax.submissions.child._errors import CannotTrace
from enso_jax.submissions.child._jax_form import trace_jax
from enso_jax.submissions.child._keys import UnmappedDraw
from enso_jax.submissions.child._original import VARIABLES, Original, call
from enso_jax.submissions.child._tracing import trace_step

_Function = Callable[[jax.Array, jax.Array, jax.Array], jax.Array]

#: Relative to the size of a state: rounding of float64, and of a step that is float32 inside.
_ROUNDING: Final = 1e-10
_SINGLE_ROUNDING: Final = 1e-4
_TIMES: Final = (0.0, 0.4, 5.7, 11.97, 18.2, 359.9)
_SIZES: Final = (0.0, 0.5, 1.0, 2.5)


class NotCompiled(Exception):  # noqa: N818 - sends the step to the host engine
    """Why a step is no program, in the submitter's terms."""


def to_program(original: Original, dt: float) -> tuple[bytes, int]:
    """The program of one member's step ``(state, t, noise)``, and q.

    Raises:
        NotCompiled: if there is none that does the same.
    """
    function, noise_size = _traced(original, dt)
    examples = jnp.zeros(VARIABLES), jnp.zeros(()), jnp.zeros(noise_size)
    try:
        program = program_of(function, *examples)
    except NotAProgram as reason:
        # As the submitter knows the file.
        text = str(reason).replace(f"{original.folder}/", "")
        raise NotCompiled(text) from reason
    if original.form == "numpy":
        _compare(original, lambda *inputs: program(*inputs)[0], noise_size, dt)
    return write_program(program), noise_size


def _traced(original: Original, dt: float) -> tuple[_Function, int]:
    try:
        if original.form == "jax":
            step = trace_jax(original, dt)
        else:
            step = trace_step(original.folder, dt)
    except (CannotTrace, UnmappedDraw) as reason:
        raise NotCompiled(str(reason)) from reason
    except InvalidSubmission as fault:
        # It has passed its checks, so this is of a traced key's making.
        raise NotCompiled(fault.message) from fault
    except Exception as error:
        # Of the tracer's own making: the step may still be right, and is called instead.
        raise NotCompiled(f"tracing failed ({type(error).__name__}: {error})") from error
    return step.function, step.noise_size


def _compare(original: Original, program: _Function, noise_size: int, dt: float) -> None:
    stepped = jax.jit(jax.vmap(program, (0, None, 1)))
    for members in (1, 6):
        for t in _TIMES:
            for size in _SIZES:
                state = states(members, size, seed=members)
                noise = np.random.default_rng(13).standard_normal((noise_size, members))
                source = ArraySource(noise)
                try:
                    expected = call(original, state, t, dt, NoiseGenerator(source))
                except (SharedDraw, CannotTrace) as reason:
                    raise NotCompiled(str(reason)) from reason
                if source.used != noise_size:
                    raise NotCompiled("the number of draws of a step is not always the same")
                found = np.asarray(stepped(jnp.asarray(state), jnp.asarray(t), jnp.asarray(noise)))
                _require_same(expected, found, state, t)


def _require_same(expected: np.ndarray, found: np.ndarray, state: np.ndarray, t: float) -> None:
    scale = np.array(TYPICAL_STATE) + np.abs(state)
    difference = float(np.max(np.abs(found - expected) / scale))
    single = bool((expected == expected.astype(np.float32)).all()) and bool(expected.any())
    if not difference <= (_SINGLE_ROUNDING if single else _ROUNDING):
        raise NotCompiled(
            f"its program differs from it by {difference:.2g} (relative) at t = {t:g}"
        )
