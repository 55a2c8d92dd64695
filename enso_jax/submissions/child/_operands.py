"""What are the elements of anything that code may put next to an array, and of which type?"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from enso_jax.submissions.child._arrays import (
    Traced,
    TracedArray,
    array,
    cast_values,
    constant_of,
    objects,
)
from enso_jax.submissions.child._errors import Untraceable
from enso_jax.submissions.child._scalars import TracedScalar
from enso_jax.submissions.child._types import TypeStandIn

_PYTHON_TYPES = {"i": int, "f": float, "c": complex}


@dataclasses.dataclass(frozen=True)
class Operand:
    """Elements and their type.

    Attributes:
        values: numbers, or objects: cells and constants.
        kind: a `numpy.dtype`; `int`, `float` or `complex` for a Python number, which takes the
            type of the arrays that it meets.
    """

    values: np.ndarray
    kind: Any

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.kind)


def operand(value: Any) -> Operand:
    """Anything that NumPy would take for an array."""
    if isinstance(value, TracedArray):
        return Operand(value.values, value.dtype)
    if isinstance(value, TracedScalar):
        python = _PYTHON_TYPES.get(value.dtype.kind) if value.is_python else None
        return Operand(value.values, python or value.dtype)
    if isinstance(value, Traced):
        raise Untraceable("elements that a mask chose are used where their number has to be known")
    if isinstance(value, bool):
        return Operand(np.asarray(value), np.dtype(bool))
    if type(value) in (int, float, complex):
        return Operand(np.asarray(value), type(value))
    if isinstance(value, list | tuple) and is_traced(value):
        return _stacked([operand(item) for item in value])
    constant = np.asarray(constants(value))
    if constant.dtype.kind not in "biufc":
        raise TypeError(f"{type(value).__name__} is no number and no array of numbers")
    return Operand(constant, constant.dtype)


def _stacked(items: list[Operand]) -> Operand:
    """What `numpy.array` makes of a list."""
    shapes = {item.values.shape for item in items}
    if len(shapes) > 1:
        raise ValueError("setting an array element with a sequence of inhomogeneous shape")
    dtype = np.result_type(*(item.dtype for item in items))
    rows = [cast_values(item.values, item.dtype, dtype).astype(object) for item in items]
    return Operand(np.stack(rows), dtype)


def as_array(value: Any, dtype: Any = None) -> TracedArray:
    """Anything as an array: itself if it is one of this type, else a new one."""
    if isinstance(value, TracedArray) and (dtype is None or np.dtype(dtype) == value.dtype):
        return value
    found = operand(value)
    dtype = found.dtype if dtype is None else np.dtype(dtype)
    return array(cast_values(found.values, found.dtype, dtype), dtype)


def is_traced(value: Any) -> bool:
    """Whether anything within lists, tuples and dicts depends on the step's arguments."""
    if isinstance(value, Traced):
        return not value.is_constant  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(value, list | tuple):
        return any(is_traced(item) for item in value)
    if isinstance(value, dict):
        return any(is_traced(item) for item in value.values())
    return False


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """Applies a function to all that is no list, tuple, dict or slice."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(function, item) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(mapped(function, item) for item in value)
    if type(value) is dict:
        return {key: mapped(function, item) for key, item in value.items()}
    return function(value)


def constants(value: Any) -> Any:
    """NumPy's own arrays for the arrays of which none is traced, wherever they are."""
    return mapped(_constant, value)


def _constant(value: Any) -> Any:
    if isinstance(value, Traced):
        return constant_of(value)[()]
    return value.real if isinstance(value, TypeStandIn) else value


def traceable(value: Any) -> Any:
    """The reverse, for what NumPy's own functions return: such arrays can be written to."""
    return mapped(_traceable, value)


def _traceable(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return array(value, value.dtype)
    return value


def as_objects(value: Any) -> Any:
    """Arrays of objects for all arrays, for NumPy's functions that take objects."""
    if isinstance(value, list | tuple) and is_traced(value):
        if any(isinstance(v, list | tuple) or np.ndim(v) for v in value):
            return type(value)(as_objects(item) for item in value)
        return operand(value).values.astype(object)
    if isinstance(value, TracedScalar):
        return objects([value.cell], ())
    if isinstance(value, TracedArray | np.ndarray):
        return operand(value).values.astype(object)
    return value


def probe(value: Any) -> Any:
    """Ones in place of what is traced: NumPy itself says what type and shape a result has."""

    def ones(item: Any) -> Any:
        if not isinstance(item, Traced):
            return item
        found = operand(item)
        if isinstance(found.kind, type):
            return found.kind(1)
        return np.ones(found.values.shape, found.dtype)[()]

    return mapped(ones, value)
