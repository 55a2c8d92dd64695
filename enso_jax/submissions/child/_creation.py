"""Which NumPy functions make arrays, or write into those they are given?

All that is made is a `TracedArray`, constants too: traced values may be written to it later.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from enso_jax.submissions.child._arrays import Traced, TracedArray, array, cast_values
from enso_jax.submissions.child._errors import Untraceable
from enso_jax.submissions.child._operands import as_array, constants, is_traced, operand
from enso_jax.submissions.child._scalars import TracedScalar
from enso_jax.submissions.child._ufuncs import write_into


def _array(value: Any, dtype: Any = None, *, copy: Any = True, ndmin: int = 0, **options: Any):
    return _made(value, dtype, copy, ndmin)


def _asarray(value: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, **options: Any):
    return _made(value, dtype, copy)


def _ascontiguous(value: Any, dtype: Any = None, **options: Any):
    return _made(value, dtype, None, 1)


def _made(value: Any, dtype: Any, copy: Any, ndmin: int = 0) -> Any:
    if isinstance(value, Traced) or is_traced(value):
        made = as_array(value, dtype)
        made = made.copy() if copy and made is value else made
    else:
        constant = np.array(constants(value), dtype)
        if constant.dtype.kind not in "biufc":
            return constant
        made = array(constant, constant.dtype)
    if made.ndim < ndmin:
        made = made.reshape((1,) * (ndmin - made.ndim) + made.shape)
    return made


def _like(function: Callable) -> Callable:
    def made(value: Any, dtype: Any = None, **options: Any) -> TracedArray:
        found = operand(value)
        empty = np.empty(found.values.shape, found.dtype)
        constant = function(
            empty, dtype=dtype, **{k: v for k, v in options.items() if k == "shape"}
        )
        return array(constant, constant.dtype)

    return made


def _full_like(value: Any, fill: Any, dtype: Any = None, **options: Any) -> TracedArray:
    made = _like(np.zeros_like)(value, dtype, **options)
    made[...] = fill
    return made


def _full(shape: Any, fill: Any, dtype: Any = None, **options: Any) -> TracedArray:
    made = _zeros(shape, dtype or operand(fill).dtype)
    made[...] = fill
    return made


def _zeros(shape: Any, dtype: Any = float, **options: Any) -> TracedArray:
    constant = np.zeros(constants(shape), dtype)
    return array(constant, constant.dtype)


def _copy(value: Any, order: str = "K", subok: bool = False) -> Any:
    return _made(value, None, True)


def _copyto(target: Any, source: Any, casting: Any = "same_kind", where: Any = True) -> None:
    write_into(target, source, where, casting)


def _putmask(target: Any, mask: Any, values: Any) -> None:
    if np.size(values) != 1 and np.shape(values) != np.shape(target):
        raise Untraceable("np.putmask with values that have to be repeated")
    write_into(target, values, mask, "unsafe")


def _place(target: Any, mask: Any, values: Any) -> None:
    if np.size(values) != 1:
        raise Untraceable("np.place with several values")
    write_into(target, values, mask, "unsafe")


def _put(target: Any, indices: Any, values: Any, mode: str = "raise") -> None:
    indices = constants(indices)
    target.fill_at(
        target.positions.reshape(-1)[indices],
        cast_values(operand(values).values, operand(values).dtype, target.dtype),
    )


def _fill_diagonal(target: Any, value: Any, wrap: bool = False) -> None:
    value = as_array(value).reshape(-1)
    for i in range(min(target.shape)):
        target[(i,) * target.ndim] = value[i % value.size]


def _of_types(function: Callable) -> Callable:
    """A question about types, which arrays answer by theirs."""

    def answer(*arguments: Any, **options: Any) -> Any:
        return function(*(_type_of(argument) for argument in arguments), **options)

    return answer


def _type_of(value: Any) -> Any:
    if isinstance(value, TracedScalar) and value.is_python:
        return operand(value).kind(1) if value.dtype.kind in "if" else True
    return value.dtype if isinstance(value, Traced) else constants(value)  # pyright: ignore


CREATION: dict[Callable, Callable] = {
    np.array: _array,
    np.asarray: _asarray,
    np.asanyarray: _asarray,
    np.ascontiguousarray: _ascontiguous,
    np.asfortranarray: _ascontiguous,
    np.copy: _copy,
    np.empty: _zeros,
    np.zeros: _zeros,
    np.full: _full,
    np.zeros_like: _like(np.zeros_like),
    np.ones_like: _like(np.ones_like),
    np.empty_like: _like(np.zeros_like),
    np.full_like: _full_like,
    np.copyto: _copyto,
    np.putmask: _putmask,
    np.place: _place,
    np.put: _put,
    np.fill_diagonal: _fill_diagonal,
    np.shape: lambda value: operand(value).values.shape,
    np.ndim: lambda value: operand(value).values.ndim,
    np.size: lambda value, axis=None: (
        operand(value).values.size if axis is None else operand(value).values.shape[axis]
    ),
    np.isscalar: lambda value: isinstance(value, TracedScalar) or np.isscalar(value),
    np.result_type: _of_types(np.result_type),
    np.can_cast: _of_types(np.can_cast),
    np.issubdtype: _of_types(np.issubdtype),
    np.promote_types: _of_types(np.promote_types),
    np.iscomplexobj: lambda value: operand(value).dtype.kind == "c",
    np.isrealobj: lambda value: operand(value).dtype.kind != "c",
}
