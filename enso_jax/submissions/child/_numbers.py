"""What do ``float(x)``, ``int(x)`` and ``numpy.float64(x)`` give, and of which types?"""

import builtins
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from enso_jax.submissions.child._arrays import Traced, TracedArray, scalar
from enso_jax.submissions.child._cells import cast
from enso_jax.submissions.child._operands import as_array, constants, is_traced, traceable
from enso_jax.submissions.child._scalars import FLOAT, TracedScalar, whole
from enso_jax.submissions.child._types import stand_in_type


@functools.cache
def scalar_type(real: type) -> type:
    """`numpy.float64` and its like, and the abstract ones as `numpy.floating`."""
    is_concrete = real in np.sctypeDict.values()
    dtype = np.dtype(real if is_concrete else float)

    def owns(value: Any) -> bool:
        known = isinstance(value, TracedScalar) and not value.is_python
        return known and np.issubdtype(value.dtype, real)

    def convert(value: Any = 0, *arguments: Any) -> Any:
        if not (is_concrete and is_traced(value)):
            return traceable(real(constants(value), *arguments))
        if isinstance(value, TracedScalar):
            return scalar(cast(value.cell, dtype), dtype)
        result = as_array(value, dtype)
        return result.copy() if result.ndim else result[()]

    attributes = {"dtype": dtype} if is_concrete else {}
    return stand_in_type(real, convert, owns, **attributes)


def to_float(value: Any = 0.0) -> Any:
    """The builtin ``float(value)``."""
    if not is_traced(value):
        return builtins.float(constants(value))
    value = value.item() if isinstance(value, TracedArray) else value
    return scalar(cast(value.cell, FLOAT), FLOAT, python=True)


def _to_int(value: Any = 0, *base: Any) -> Any:
    """The builtin ``int(value)``."""
    if not is_traced(value):
        return builtins.int(constants(value), *base)
    return whole(value.item() if isinstance(value, TracedArray) else value)


def _is_python(*kinds: str) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, TracedScalar) and value.is_python and value.dtype.kind in kinds
    )


def _is_float(value: Any) -> bool:
    """`numpy.float64` is a Python float too."""
    return isinstance(value, TracedScalar) and value.dtype == FLOAT


FLOAT_TYPE = stand_in_type(float, to_float, _is_float, dtype=np.dtype(float))
INT_TYPE = stand_in_type(int, _to_int, _is_python("i", "b"), dtype=np.dtype(int))
NDARRAY = stand_in_type(
    np.ndarray,
    lambda *arguments, **options: traceable(np.ndarray(*arguments, **options)),
    lambda value: isinstance(value, Traced) and not isinstance(value, TracedScalar),
)
