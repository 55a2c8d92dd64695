"""What do NumPy's functions that choose, count and average do to traced arrays?

Each is written in NumPy, in terms of ufuncs and of `choose`, and so follows NumPy's types.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from enso_jax.submissions.child._arrays import TracedArray, cast_values, wrapped
from enso_jax.submissions.child._errors import Untraceable
from enso_jax.submissions.child._operands import (
    Operand,
    as_array,
    constants,
    is_traced,
    operand,
    probe,
)
from enso_jax.submissions.child._selections import nonzero
from enso_jax.submissions.child._ufuncs import apply_ufunc, choose, result_dtype

_MISSING = object()


def _where(condition: Any, chosen: Any = _MISSING, other: Any = _MISSING) -> Any:
    if chosen is _MISSING:
        return nonzero(as_array(condition))
    dtype = result_dtype(np.where, True, chosen, other)
    values = choose(operand(condition), _typed(chosen, dtype), _typed(other, dtype))
    return wrapped(values, dtype)


def _typed(value: Any, dtype: np.dtype) -> Operand:
    found = operand(value)
    return Operand(cast_values(found.values, found.dtype, dtype), dtype)


def _select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    dtype = np.select([True] * len(choices), [probe(c) for c in choices], probe(default)).dtype
    result = default
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        result = _where(condition, choice, result)
    return as_array(result, dtype) if np.ndim(result) else result


def _piecewise(x: Any, conditions: Any, functions: Any, *arguments: Any, **options: Any) -> Any:
    x = as_array(x)
    if not x.ndim:
        flat = _piecewise(
            x.reshape(1), _each_reshaped(conditions), functions, *arguments, **options
        )
        return flat.reshape(())
    if not isinstance(conditions, list | tuple) or not np.ndim(conditions[0]):
        conditions = [conditions]
    conditions = [as_array(condition, bool) for condition in conditions]
    if len(functions) == len(conditions) + 1:
        conditions = [*conditions, ~functools.reduce(np.logical_or, conditions)]
    result = np.zeros_like(x)
    for condition, function in zip(conditions, functions, strict=True):
        value = function(x[condition], *arguments, **options) if callable(function) else function
        result[condition] = value
    return result


def _each_reshaped(conditions: Any) -> list:
    if not isinstance(conditions, list | tuple):
        conditions = [conditions]
    return [as_array(condition, bool).reshape(1) for condition in conditions]


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    a = a if low is None else np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


def _round(a: Any, decimals: int = 0) -> Any:
    if operand(a).dtype.kind in "iu" and decimals >= 0:
        return a
    if decimals == 0:
        return np.rint(a)
    factor = operand(a).dtype.type(10.0 ** abs(decimals))
    return np.rint(a * factor) / factor if decimals > 0 else np.rint(a / factor) * factor


def _reduction(ufunc: np.ufunc) -> Callable:
    def reduced(a: Any, axis: Any = None, **options: Any) -> Any:
        return apply_ufunc(ufunc, "reduce", (a,), {"axis": axis, **options})

    return reduced


def _count(a: Any, axis: Any, where: Any = True) -> Any:
    shape = operand(a).values.shape
    return np.sum(np.broadcast_to(where, shape), axis=axis, keepdims=True, dtype=float)


def _mean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, where: Any = True):
    a = as_array(a)
    dtype = dtype or result_dtype(np.mean, a)
    total = np.sum(a, axis=axis, dtype=dtype, keepdims=True, where=where)
    mean = total / _count(a, axis, where).astype(dtype)
    return mean if keepdims else _without_axes(mean, axis)


def _without_axes(value: Any, axis: Any) -> Any:
    return np.squeeze(value, axis=axis)[()]


def _var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: float = 0,
    keepdims: Any = False,
    **options: Any,
) -> Any:
    if options:
        raise Untraceable("np.var with options")
    a = as_array(a)
    deviation = a - np.mean(a, axis=axis, dtype=dtype, keepdims=True)
    squares = np.sum(deviation * deviation, axis=axis, keepdims=True)
    variance = squares / (_count(a, axis) - ddof).astype(squares.dtype)
    return variance if keepdims else _without_axes(variance, axis)


def _std(*arguments: Any, **options: Any) -> Any:
    return np.sqrt(np.var(*arguments, **options))


def _average(a: Any, axis: Any = None, weights: Any = None, **options: Any) -> Any:
    if weights is None:
        return np.mean(a, axis=axis)
    weights = as_array(weights)
    if weights.ndim != np.ndim(a):
        shape = [-1 if i == axis else 1 for i in range(np.ndim(a))]
        weights = np.broadcast_to(weights.reshape(shape), np.shape(a))
    return np.sum(a * weights, axis=axis) / np.sum(weights, axis=axis)


def _nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None):
    limits = np.finfo(operand(x).dtype)
    result = np.where(np.isnan(x), nan, x)
    result = np.where(np.isposinf(x), limits.max if posinf is None else posinf, result)
    result = np.where(np.isneginf(x), limits.min if neginf is None else neginf, result)
    result = result.astype(operand(x).dtype)
    if not copy and isinstance(x, TracedArray):
        x[...] = result
        return x
    return result


def _isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    close = np.abs(a - b) <= atol + rtol * np.abs(b)
    close = np.where(np.isfinite(b), close, np.equal(a, b))
    return close | (np.isnan(a) & np.isnan(b)) if equal_nan else close


def _array_equal(a: Any, b: Any, equal_nan: bool = False) -> Any:
    return np.shape(a) == np.shape(b) and np.all(np.equal(a, b))


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """How many of the sorted values lie below, counted."""
    if sorter is not None:
        raise Untraceable("np.searchsorted with a sorter")
    below = np.less if side == "left" else np.less_equal
    v = operand(v)
    column = wrapped(v.values.reshape((*v.values.shape, 1)), v.dtype)
    return np.sum(below(as_array(a), column), axis=-1)


def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    if is_traced(bins) or np.any(np.diff(constants(bins)) < 0):
        raise Untraceable("np.digitize with bins that are traced or not increasing")
    return np.searchsorted(bins, x, side="left" if right else "right")


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None):
    """NumPy's own formula; the interval is found by counting."""
    if is_traced(xp):
        raise Untraceable("np.interp with nodes that are traced")
    xp, fp = as_array(xp, float), as_array(fp, float)
    if period is not None:
        nodes = np.asarray(constants(xp)) % period
        order = np.argsort(nodes)
        nodes, fp = nodes[order], fp[order]
        xp = as_array(np.concatenate([nodes[-1:] - period, nodes, nodes[:1] + period]))
        fp, x = np.concatenate([fp[-1:], fp, fp[:1]]), x % period
    at = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)
    low = xp[at]
    result = (fp[at + 1] - fp[at]) / (xp[at + 1] - low) * (x - low) + fp[at]
    result = np.where(x < xp[0], fp[0] if left is None else left, result)
    return np.where(
        x >= xp[-1], np.where(x > xp[-1], fp[-1] if right is None else right, fp[-1]), result
    )


def _apply_along_axis(
    function: Callable, axis: int, a: Any, *arguments: Any, **options: Any
) -> Any:
    a = as_array(a)
    a = a.view_at(np.moveaxis(a.positions, axis, -1))
    results = [function(a[index], *arguments, **options) for index in np.ndindex(a.shape[:-1])]
    stacked = as_array(results)
    result = stacked.reshape(a.shape[:-1] + stacked.shape[1:])
    return np.moveaxis(result, -1, axis) if stacked.ndim > 1 else result


TRACED: dict[Callable, Callable] = {
    np.where: _where,
    np.select: _select,
    np.clip: _clip,
    np.round: _round,
    np.around: _round,
    np.fix: np.trunc,
    np.sum: _reduction(np.add),
    np.prod: _reduction(np.multiply),
    np.max: _reduction(np.maximum),
    np.min: _reduction(np.minimum),
    np.amax: _reduction(np.maximum),
    np.amin: _reduction(np.minimum),
    np.any: _reduction(np.logical_or),
    np.all: _reduction(np.logical_and),
    np.count_nonzero: lambda a, axis=None, **options: np.sum(
        as_array(a) != 0, axis=axis, **options
    ),
    np.mean: _mean,
    np.var: _var,
    np.std: _std,
    np.average: _average,
    np.nan_to_num: _nan_to_num,
    np.isposinf: lambda x: np.equal(x, np.inf),
    np.isneginf: lambda x: np.equal(x, -np.inf),
    np.isclose: _isclose,
    np.allclose: lambda *arguments, **options: np.all(_isclose(*arguments, **options)),
    np.array_equal: _array_equal,
    np.searchsorted: _searchsorted,
    np.digitize: _digitize,
    np.interp: _interp,
    np.angle: lambda z: np.arctan2(np.imag(z), np.real(z)),
}

#: These call back into the submission, with constants too.
CALLING_BACK: dict[Callable, Callable] = {
    np.piecewise: _piecewise,
    np.apply_along_axis: _apply_along_axis,
}
