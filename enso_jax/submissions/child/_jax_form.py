"""What program is a JAX submission? Traced as it is, its draws turned into reads of noise."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from enso_jax.jaxprs import primitives
from enso_jax.submissions._contract import (
    LONGEST_T_MONTHS,
    TYPICAL_STATE,
    InvalidSubmission,
)
from enso_jax.submissions.child._keys import NoiseKey, NoiseTape, UnmappedDraw
from enso_jax.submissions.child._original import VARIABLES, Original, fault, parameters

#: Parts of the names of operations that lead from JAX back to Python, which no step may use.
WAYS_BACK: Final = ("callback", "ffi", "custom_call", "infeed", "outfeed")


@dataclasses.dataclass(frozen=True)
class TracedJax:
    """The step of one member for one dt: ``function(state, t, noise)``, and q."""

    function: Callable[[jax.Array, jax.Array, jax.Array], jax.Array]
    noise_size: int


def trace_jax(original: Original, dt: float) -> TracedJax:
    """The step with its noise as an argument.

    Raises:
        InvalidSubmission: if it cannot be traced at all, or returns something else.
        UnmappedDraw: if a draw has no counterpart among normals.
    """
    params = parameters(original.folder)

    def run(tape: NoiseTape, state: jax.Array, t: jax.Array) -> jax.Array:
        result = original.step(state, t, dt, NoiseKey(tape), params)
        _require_result(result)
        return result.astype(float)

    def counted(state: jax.Array, t: jax.Array) -> int:
        tape = NoiseTape(None)
        jax.make_jaxpr(lambda s, t: run(tape, s, t))(state, t)
        return tape.taken

    size = _attempt(original, dt, lambda: counted(jnp.zeros(VARIABLES), jnp.zeros(())))
    return TracedJax(lambda state, t, noise: run(NoiseTape(noise), state, t), size)


def check_jax(original: Original) -> None:
    """The step runs with real keys wherever it must be defined, and stays finite there.

    It calls nothing back into Python, where it could remember: a step that is no program is
    compiled in this process, which then runs one part of the grade after another.
    """
    params = parameters(original.folder)
    typical = jnp.asarray(TYPICAL_STATE)
    key = jax.random.key(0)
    for dt in (1.0 / 30.0, 0.1, 1.0):

        @jax.jit
        def step(state: jax.Array, t: jax.Array, dt: float = dt) -> jax.Array:
            result = original.step(state, t, dt, key, params)
            _require_result(result)
            return result

        _attempt(
            original,
            dt,
            lambda f=step: _require_no_callback(jax.make_jaxpr(f)(typical, jnp.zeros(()))),
        )
        for t in (0.0, 5.7, LONGEST_T_MONTHS - 1.0):
            for size in (0.0, 1.0, -2.0):
                state = size * typical
                new = _attempt(original, dt, lambda s=state, t=t, f=step: f(s, jnp.asarray(t)))
                if not np.isfinite(new).all():
                    raise InvalidSubmission(
                        "non_finite",
                        f"step gave a value that is not finite at t = {t:.6g}, dt = {dt:.4g} from "
                        f"the ordinary state {(np.round(np.asarray(state), 2) + 0.0).tolist()}.",
                    )


def _require_no_callback(jaxpr: core.ClosedJaxpr) -> None:
    for name in primitives(jaxpr.jaxpr):
        # What is printed for debugging goes out and never comes back.
        if not name.startswith("debug") and any(way in name for way in WAYS_BACK):
            raise InvalidSubmission(
                "isolation_violation",
                f"step leads from JAX back to Python ({name}): use JAX operations only.",
            )


def advance_jax(original: Original) -> Callable[..., np.ndarray]:
    """The host engine's inner loop for a step that is no program: compiled in here, real keys.

    Gives ``advance(ensemble (5, N), month, months, steps, seed) -> (month, 5, N)``.
    """
    params = parameters(original.folder)

    @functools.partial(jax.jit, static_argnames=("months", "steps"))
    def run(ensemble: jax.Array, month: jax.Array, key: jax.Array, months: int, steps: int):
        dt = 1.0 / steps

        def member(state: jax.Array, t: jax.Array, key: jax.Array) -> jax.Array:
            return original.step(state, t, dt, key, params).astype(float)

        def one_step(ensemble: jax.Array, number: jax.Array):
            keys = jax.random.split(jax.random.fold_in(key, number), ensemble.shape[1])
            t = month + number * dt
            return jax.vmap(member, (1, None, 0), 1)(ensemble, t, keys), None

        def one_month(ensemble: jax.Array, first: jax.Array):
            ensemble, _ = jax.lax.scan(one_step, ensemble, first + jnp.arange(steps))
            return ensemble, ensemble

        return jax.lax.scan(one_month, ensemble, steps * jnp.arange(months))[1]

    def advance(
        ensemble: np.ndarray, month: float, months: int, steps: int, seed: int
    ) -> np.ndarray:
        key = jax.random.fold_in(jax.random.key(seed), int(month))
        return np.asarray(run(jnp.asarray(ensemble), jnp.asarray(month), key, months, steps))

    return advance


def _attempt(original: Original, dt: float, call: Callable[[], Any]) -> Any:
    try:
        return jax.block_until_ready(call())
    except (InvalidSubmission, UnmappedDraw):
        raise
    except BaseException as error:
        where = f"step failed at dt = {dt:.4g}"
        raise fault("raises", where, error, original.folder) from error


def _require_result(result: Any) -> None:
    wanted = f"return a floating JAX array of shape ({VARIABLES},)"
    if not isinstance(result, jax.Array):
        raise InvalidSubmission("wrong_dtype", f"step returned {type(result).__name__}: {wanted}.")
    if not jnp.issubdtype(result.dtype, jnp.floating):
        raise InvalidSubmission("wrong_dtype", f"step returned {result.dtype}: {wanted}.")
    if result.shape != (VARIABLES,):
        raise InvalidSubmission("wrong_shape", f"step returned shape {result.shape}: {wanted}.")
