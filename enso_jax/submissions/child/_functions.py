"""What do NumPy's functions and array methods do to traced arrays?

Most need no counterpart of their own: what moves elements about or adds and multiplies them,
NumPy does itself on arrays of cells; what JAX has is given arrays of JAX.
"""

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax.scipy import linalg as jax_linalg

from enso_jax.submissions.child import _elementwise as elementwise
from enso_jax.submissions.child._arrays import TracedArray, cast_values, wrapped
from enso_jax.submissions.child._cells import Cell, same_trace
from enso_jax.submissions.child._creation import CREATION
from enso_jax.submissions.child._errors import Untraceable
from enso_jax.submissions.child._jax_arrays import gathered, scattered
from enso_jax.submissions.child._operands import (
    as_array,
    as_objects,
    constants,
    is_traced,
    mapped,
    operand,
    probe,
    traceable,
)
from enso_jax.submissions.child._selections import Selection, has_selection, lifted, nonzero
from enso_jax.submissions.child._ufuncs import apply_ufunc, write_into


def call(function: Callable, arguments: tuple, options: dict) -> Any:
    """A NumPy or SciPy function of arrays that may be traced."""
    if isinstance(function, np.ufunc):
        return apply_ufunc(function, "__call__", arguments, options)
    at = _position_of_out(function)
    if len(arguments) > at:
        options = {**options, "out": arguments[at]}
        arguments = arguments[:at]
    out = options.get("out")
    if isinstance(out, TracedArray):
        rest = {name: option for name, option in options.items() if name != "out"}
        return write_into(out, call(function, arguments, rest))
    if has_selection(arguments):
        return _of_selection(function, arguments, options)
    if function in ALWAYS:
        return ALWAYS[function](*arguments, **options)
    if not is_traced((arguments, options)):
        return traceable(function(*constants(arguments), **constants(options)))
    if function in TRACED:
        return TRACED[function](*arguments, **options)
    raise Untraceable(f"{name_of(function)} of a traced value has no counterpart in JAX")


@functools.cache
def _position_of_out(function: Callable) -> int:
    """At which place a function takes the array that it writes to."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    for i, parameter in enumerate(parameters):
        if parameter.name == "out" and parameter.kind in by_position:
            return i
    return sys.maxsize


def name_of(function: Callable) -> str:
    """A function's name as a submitter would write it."""
    module = getattr(function, "__module__", None) or "numpy"
    name = getattr(function, "__name__", type(function).__name__)
    return f"{module.replace('numpy', 'np', 1).replace('._core', '')}.{name}"


def _of_selection(function: Callable, arguments: tuple, options: dict) -> Any:
    if function in _ELEMENTWISE:
        plain = functools.partial(call, function)
        return lifted(lambda *full: plain(full, options), arguments)
    first = arguments[0]
    name = getattr(function, "__name__", "")
    if function is np.size:
        return first.size
    if function is np.ndim:
        return first.ndim
    if isinstance(first, Selection) and name in ("sum", "any", "all", "mean") and not options:
        return getattr(first, name)(*arguments[1:])
    raise Untraceable(f"{name_of(function)} of elements that a mask chose")


# --- Views ------------------------------------------------------------------------------------


def _view(function: Callable) -> Callable:
    """A function that only rearranges an array: a view where NumPy returns one."""

    def rearranged(value: Any, *arguments: Any, **options: Any) -> Any:
        value = as_array(value)
        if "indices_or_sections" in options or function in _SPLITS:
            arguments, options = constants(arguments), constants(options)
        parts = function(value.positions, *arguments, **options)
        return mapped(value.view_at, parts)

    return rearranged


def _atleast(function: Callable) -> Callable:
    def rearranged(*values: Any) -> Any:
        results = [_view(function)(value) for value in values]
        return results[0] if len(results) == 1 else tuple(results)

    return rearranged


def _broadcast_arrays(*values: Any, subok: bool = False) -> Any:
    arrays = [as_array(value) for value in values]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(_view(np.broadcast_to)(a, shape) for a in arrays)


def _imaginary(value: Any) -> Any:
    if operand(value).dtype.kind == "c":
        return np.multiply(np.subtract(value, np.conjugate(value)), -0.5j).astype(float)
    return np.zeros_like(value)


def _real(value: Any) -> Any:
    return value.astype(float) if operand(value).dtype.kind == "c" else value


# --- By NumPy itself, on cells ------------------------------------------------------------------


def via_objects(function: Callable, arguments: tuple, options: dict) -> Any:
    """A function that moves, adds and multiplies elements: NumPy's own, on arrays of objects."""
    with np.errstate(all="ignore"):
        expected = function(*probe(arguments), **probe(options))
    results = function(*mapped_objects(arguments), **{k: as_objects(v) for k, v in options.items()})

    def typed(result: Any, like: Any) -> Any:
        if isinstance(like, list | tuple):
            return type(like)(typed(r, one) for r, one in zip(result, like, strict=True))
        values = np.empty(np.shape(like), object)
        values[...] = result
        dtype = np.asarray(like).dtype
        return wrapped(cast_values(values, np.dtype(object), dtype), dtype)

    return typed(results, expected)


def mapped_objects(arguments: tuple) -> tuple:
    return tuple(as_objects(argument) for argument in arguments)


def _objects(function: Callable) -> Callable:
    return lambda *arguments, **options: via_objects(function, arguments, options)


# --- By JAX ---------------------------------------------------------------------------------------


def _jax(function: Callable, floats: bool = True) -> Callable:
    """A function by its JAX counterpart; the arrays get one type, as JAX wants it."""

    def computed(*arguments: Any, **options: Any) -> Any:
        found: list[Cell] = []
        dtypes = []

        def survey(value: Any) -> Any:
            if isinstance(value, TracedArray | np.ndarray) or is_traced(value):
                item = operand(value)
                dtypes.append(item.dtype)
                found.extend(v for v in item.values.flat if isinstance(v, Cell))
            return value

        mapped(survey, (arguments, options))
        dtype = np.result_type(*dtypes)
        if floats and dtype.kind not in "fc":
            dtype = np.dtype(float)

        def convert(value: Any) -> Any:
            if isinstance(value, TracedArray | np.ndarray) or is_traced(value):
                return gathered(operand(value).values, dtype)
            return value

        arguments, options = mapped(convert, (arguments, options))
        with _loose():
            results = function(*arguments, **options)
        trace = same_trace(found)
        return mapped(
            lambda r: wrapped(scattered(trace, jnp.asarray(r)), np.dtype(r.dtype)), results
        )

    return computed


def _loose() -> Any:
    """JAX's own functions mix ranks and types within."""
    stack = contextlib.ExitStack()
    stack.enter_context(jax.numpy_rank_promotion("allow"))
    stack.enter_context(jax.numpy_dtype_promotion("standard"))
    return stack


def _cholesky(a: Any, lower: bool = False, **options: Any) -> Any:
    factor = np.linalg.cholesky(a)
    return factor if lower else factor.T


def _solve(a: Any, b: Any) -> Any:
    """NumPy takes `b` for a vector only if it has one dimension; so does this."""
    return _jax(jnp.linalg.solve)(as_array(a), as_array(b))


def _norm(x: Any, order: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if order is None or (order == 2 and (axis is not None or np.ndim(x) == 1)):
        return np.sqrt(np.sum(np.square(np.abs(x)), axis=axis, keepdims=keepdims))
    return _jax(jnp.linalg.norm)(as_array(x), order, axis, keepdims)


# --- Tables --------------------------------------------------------------------------------------

_SPLITS = (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)

_VIEWS = (
    *_SPLITS,
    *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze),
    *(np.expand_dims, np.broadcast_to, np.flip, np.fliplr, np.flipud, np.rot90, np.diagonal),
)

#: What is done here whether or not an argument is traced: it returns a view or writes in place.
ALWAYS: dict[Callable, Callable] = {
    **{function: _view(function) for function in _VIEWS},
    **{f: _atleast(f) for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d)},
    **CREATION,
    **elementwise.CALLING_BACK,
    np.broadcast_arrays: _broadcast_arrays,
    np.real: _real,
}

#: What is done only to traced values; NumPy does it to constants.
TRACED: dict[Callable, Callable] = {
    **{
        function: _objects(function)
        for function in (
            *(np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack),
            *(np.block, np.tile, np.repeat, np.roll, np.append, np.insert, np.delete, np.resize),
            *(np.diag, np.diagflat, np.tril, np.triu, np.pad, np.meshgrid, np.ediff1d, np.diff),
            *(np.dot, np.inner, np.outer, np.vdot, np.tensordot, np.einsum, np.kron, np.trace),
            *(np.cross, np.convolve, np.cumsum, np.cumprod, np.gradient, np.linalg.multi_dot),
            *(np.polyval, np.trapezoid, np.vander, np.linalg.outer, np.linalg.cross),
        )
    },
    **{
        function: _jax(counterpart)
        for function, counterpart in (
            *((np.sort, jnp.sort), (np.median, jnp.median), (np.quantile, jnp.quantile)),
            *((np.percentile, jnp.percentile), (np.nanmean, jnp.nanmean), (np.ptp, jnp.ptp)),
            *((np.nansum, jnp.nansum), (np.nanmax, jnp.nanmax), (np.nanmin, jnp.nanmin)),
            *((np.linalg.inv, jnp.linalg.inv), (np.linalg.det, jnp.linalg.det)),
            *((np.linalg.cholesky, jnp.linalg.cholesky), (np.linalg.eigh, jnp.linalg.eigh)),
            *((np.linalg.eigvalsh, jnp.linalg.eigvalsh), (np.linalg.slogdet, jnp.linalg.slogdet)),
            *((np.linalg.pinv, jnp.linalg.pinv), (np.linalg.lstsq, jnp.linalg.lstsq)),
            (np.linalg.matrix_power, jnp.linalg.matrix_power),
            *((scipy.linalg.expm, jax_linalg.expm), (scipy.linalg.inv, jnp.linalg.inv)),
            (scipy.linalg.det, jnp.linalg.det),
        )
    },
    **{
        function: _jax(counterpart, floats=False)
        for function, counterpart in (
            (np.argmax, jnp.argmax),
            (np.argmin, jnp.argmin),
            (np.argsort, jnp.argsort),
        )
    },
    **elementwise.TRACED,
    np.linalg.norm: _norm,
    np.linalg.solve: _solve,
    scipy.linalg.solve: _solve,
    scipy.linalg.norm: _norm,
    scipy.linalg.cholesky: _cholesky,
    np.nonzero: lambda value: nonzero(as_array(value)),
    np.flatnonzero: lambda value: nonzero(as_array(value).reshape(-1))[0],
    np.imag: _imaginary,
    np.take: lambda a, indices, axis=None, **options: _take(a, indices, axis),
}

_ELEMENTWISE = (
    *(np.where, np.clip, np.select, np.round, np.around, np.nan_to_num, np.isclose, np.copy),
    *(np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.interp, np.sinc, np.real),
)


def _take(a: Any, indices: Any, axis: int | None) -> Any:
    a = as_array(a)
    if axis is None:
        return a.reshape(-1)[indices]
    return a[(*(slice(None),) * (axis % a.ndim), indices)]
