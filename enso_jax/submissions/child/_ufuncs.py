"""What does a NumPy ufunc do to traced arrays?

The types are NumPy's own: it is asked which loop it would run, and that loop is run on cells.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from enso_jax.submissions.child._arrays import TracedArray, cast_values, objects, wrapped
from enso_jax.submissions.child._cells import operate, select
from enso_jax.submissions.child._errors import Untraceable
from enso_jax.submissions.child._operands import (
    Operand,
    constants,
    is_traced,
    operand,
    probe,
    traceable,
)


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: tuple, options: dict) -> Any:
    """A ufunc, or one of its methods (``reduce``, ``accumulate``, ``outer``, ``at``)."""
    from enso_jax.submissions.child._selections import has_selection, lifted

    options = dict(options)
    if method == "at":
        return _at(ufunc, *inputs)
    out = options.pop("out", None)
    outs = out if isinstance(out, tuple) else (out,)
    if has_selection(inputs):
        if method != "__call__":
            raise Untraceable(f"{ufunc.__name__}.{method} of elements that a mask chose")
        result = lifted(lambda *plain: apply_ufunc(ufunc, method, plain, options), inputs)
        return result if out is None else outs[0].become(result)
    where = options.pop("where", True) if method == "__call__" else True
    if not is_traced((inputs, options)):
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        result = traceable(function(*constants(inputs), **constants(options)))
    elif method == "__call__":
        result = _call(ufunc, inputs, options)
    else:
        result = _METHODS[method](ufunc, *inputs, **options)
    if out is None and where is True:
        return result
    results = result if isinstance(result, tuple) else (result,)
    if out is None:
        outs = tuple(traceable(np.zeros(r.shape, r.dtype)) for r in results)
    written = tuple(
        r if target is None else write_into(target, r, where, options.get("casting", "same_kind"))
        for r, target in zip(results, outs, strict=True)
    )
    return written if ufunc.nout > 1 else written[0]


def write_into(target: Any, value: Any, where: Any = True, casting: Any = "same_kind") -> Any:
    """Writes a result to the array given as ``out``, and returns that."""
    found = operand(value)
    if not isinstance(target, TracedArray):
        if is_traced(value) or is_traced(where):
            raise Untraceable(
                "a traced value is written to an array made outside NumPy's functions"
            )
        np.copyto(target, constants(value), casting=casting, where=constants(where))
        return target
    if not np.can_cast(found.dtype, target.dtype, casting):
        raise TypeError(
            f"Cannot cast output from {found.dtype!r} to {target.dtype!r} with casting rule"
            f" '{casting}'"
        )
    if not target.flags.writeable:
        raise ValueError("output array is read-only")
    values = np.broadcast_to(cast_values(found.values, found.dtype, target.dtype), target.shape)
    if where is not True:
        values = choose(operand(where), Operand(values, target.dtype), operand(target))
    target.fill_at(target.positions, values)
    return target


def each(function: Callable[..., tuple], arrays: Sequence[np.ndarray], outputs: int = 1) -> Any:
    """Applies a function to the elements of arrays that broadcast; an array for each output."""
    arrays = np.broadcast_arrays(*arrays)
    shape = arrays[0].shape
    results = [function(*numbers) for numbers in zip(*(a.flat for a in arrays), strict=True)]
    return [objects((r[i] for r in results), shape) for i in range(outputs)]


def choose(condition: Operand, chosen: Operand, other: Operand) -> np.ndarray:
    """``numpy.where`` for two arrays of one type."""
    dtype = chosen.dtype
    arrays = (condition.values, chosen.values, other.values)
    return each(lambda c, a, b: (select(_truth(c), a, b, dtype),), arrays)[0]


def _truth(number: Any) -> Any:
    return bool(number) if isinstance(number, np.generic) else number


def loop_of(ufunc: np.ufunc, operands: Sequence[Operand]) -> tuple[np.dtype, ...]:
    """The types in which NumPy computes, of arguments and outputs."""
    kinds = [found.kind for found in operands]
    if all(isinstance(kind, type) for kind in kinds):
        kinds = [np.dtype(kind) for kind in kinds]
    return ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout))


def _call(ufunc: np.ufunc, inputs: tuple, options: dict) -> Any:
    if ufunc.signature is not None:
        from enso_jax.submissions.child._functions import via_objects

        return via_objects(ufunc, inputs, {})
    operands = [operand(value) for value in inputs]
    loop = loop_of(ufunc, operands)
    outputs = each(
        lambda *numbers: operate(ufunc, numbers, loop), [o.values for o in operands], ufunc.nout
    )
    results = tuple(
        wrapped(values, dtype) for values, dtype in zip(outputs, loop[ufunc.nin :], strict=True)
    )
    if options.get("dtype") is not None:
        results = tuple(r.astype(options["dtype"]) for r in results)
    return results if ufunc.nout > 1 else results[0]


# --- Methods of ufuncs ----------------------------------------------------------------------


def _binary(ufunc: np.ufunc, dtype: np.dtype) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    loop = (dtype, dtype, dtype)
    return lambda a, b: each(lambda *numbers: operate(ufunc, numbers, loop), (a, b))[0]


def _reduce(
    ufunc: np.ufunc,
    value: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    found = operand(value)
    values = found.values
    if dtype is None:
        dtype = ufunc.reduce(np.ones((1,) * max(values.ndim, 1), found.dtype), axis=None).dtype
    dtype = np.dtype(dtype)
    values = cast_values(values, found.dtype, dtype)
    if where is not True:
        identity = Operand(np.asarray(_start(ufunc, initial)), dtype)
        values = choose(operand(where), Operand(values, dtype), identity)
    axes = _axes(axis, values.ndim)
    kept = [a for a in range(values.ndim) if a not in axes]
    shape = tuple(values.shape[a] for a in kept)
    count = math.prod(values.shape[a] for a in axes)
    rows = list(values.transpose(*axes, *kept).reshape(count, *shape))
    if initial is not None or not rows:
        start = cast_values(operand(_start(ufunc, initial)).values, found.dtype, dtype)
        rows = [np.broadcast_to(start, shape), *rows]
    rows = [
        np.asarray(row, object) if isinstance(row, np.ndarray) else objects([row], ())
        for row in rows
    ]
    total = functools.reduce(_binary(ufunc, dtype), rows)
    if keepdims:
        total = total.reshape([1 if a in axes else n for a, n in enumerate(values.shape)])
    return wrapped(total, dtype)


def _start(ufunc: np.ufunc, initial: Any) -> Any:
    start = ufunc.identity if initial is None else initial
    if start is None:
        raise ValueError(f"reduction operation {ufunc.__name__} which has no identity")
    return start


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return np.lib.array_utils.normalize_axis_tuple(axis, ndim)


def _accumulate(
    ufunc: np.ufunc, value: Any, axis: int = 0, dtype: Any = None, out: None = None
) -> Any:
    found = operand(value)
    dtype = np.dtype(dtype or ufunc.accumulate(np.ones(1, found.dtype)).dtype)
    values = np.moveaxis(cast_values(found.values, found.dtype, dtype).astype(object), axis, 0)
    sums = np.empty(values.shape, object)
    for i in range(len(values)):
        row = values[i : i + 1]
        sums[i : i + 1] = row if i == 0 else _binary(ufunc, dtype)(sums[i - 1 : i], row)
    return wrapped(np.moveaxis(sums, 0, axis), dtype)


def _outer(ufunc: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    a, b = operand(a), operand(b)
    column = a.values.reshape(a.values.shape + (1,) * b.values.ndim)
    loop = loop_of(ufunc, (a, b))
    values = each(lambda *numbers: operate(ufunc, numbers, loop), (column, b.values))[0]
    return wrapped(values, loop[-1])


def _at(ufunc: np.ufunc, target: Any, index: Any, *others: Any) -> None:
    """Unbuffered: an index that comes twice is applied twice."""
    if not isinstance(target, TracedArray):
        raise Untraceable(f"{ufunc.__name__}.at of an array made outside NumPy's functions")
    if is_traced(index):
        raise Untraceable(f"{ufunc.__name__}.at with an index that is traced")
    places = target.positions[constants(index)]
    shape = np.shape(places)
    values = [np.broadcast_to(operand(o).values, shape).reshape(-1) for o in others]
    dtypes = [operand(o).dtype for o in others]
    for i, place in enumerate(np.asarray(places).reshape(-1)):
        single = target.view_at(place)
        arguments = [
            wrapped(objects([v[i]], ()), dtype) for v, dtype in zip(values, dtypes, strict=True)
        ]
        found = operand(ufunc(single, *arguments))
        cells = cast_values(found.values, found.dtype, target.dtype)
        target.fill_at(np.array([place]), cells.reshape(1))


_METHODS = {"reduce": _reduce, "accumulate": _accumulate, "outer": _outer}


def result_dtype(function: Callable, *arguments: Any, **options: Any) -> np.dtype:
    """The type of what NumPy's function returns."""
    with np.errstate(all="ignore"):
        return np.asarray(function(*probe(arguments), **probe(options))).dtype
