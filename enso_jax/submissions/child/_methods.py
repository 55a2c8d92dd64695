"""What do the methods and attributes of NumPy's arrays and numbers do to traced ones?"""

import functools
from typing import Any

import numpy as np

from enso_jax.submissions.child._arrays import TracedArray, constant_of
from enso_jax.submissions.child._errors import Untraceable
from enso_jax.submissions.child._functions import call
from enso_jax.submissions.child._ufuncs import write_into

_METHODS = {
    name: getattr(np, name)
    for name in (
        *("sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "cumsum", "cumprod"),
        *("dot", "trace", "argmax", "argmin", "argsort", "round", "clip", "ravel", "squeeze"),
        *("swapaxes", "repeat", "take", "diagonal", "nonzero", "searchsorted", "compress"),
        *("conj", "conjugate", "put"),
    )
}
_PROPERTIES = {"real": np.real, "imag": np.imag}

#: They would write to a copy.
_WRITING = frozenset({"partition", "resize", "setfield", "byteswap", "itemset"})


def method(value: Any, name: str) -> Any:
    """An attribute of an array or a number that NumPy's have too."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _PROPERTIES:
        return call(_PROPERTIES[name], (value,), {})
    if name == "flat":
        return _flat(value)
    if name == "view":
        return functools.partial(_same_view, value)
    if name == "reshape":
        return lambda *shape, **options: np.reshape(value, _shape(shape), **options)
    if name == "transpose":
        return lambda *axes: np.transpose(value, _shape(axes) if axes else None)
    if name == "flatten":
        return lambda order="C": call(np.ravel, (value,), {"order": order}).copy()
    if name == "sort":
        return functools.partial(_sort_in_place, value)
    if name in _METHODS:
        return lambda *arguments, **options: call(_METHODS[name], (value, *arguments), options)
    if not hasattr(np.ndarray, name) and not hasattr(np.float64, name):
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")
    if not value.is_constant or name in _WRITING:
        raise Untraceable(f"'{name}' of a traced array has no counterpart in JAX")
    return getattr(constant_of(value), name)


def _flat(value: Any) -> Any:
    flat = call(np.ravel, (value,), {})
    if isinstance(value, TracedArray) and not np.may_share_memory(flat.positions, value.positions):
        raise Untraceable("'flat' of an array that does not lie in one piece")
    return flat


def _same_view(value: Any, *others: Any, **options: Any) -> Any:
    if others or options:
        raise Untraceable("a view of an array as another type")
    return value.view_at(value.positions.view()) if isinstance(value, TracedArray) else value


def _sort_in_place(value: TracedArray, axis: int = -1, **options: Any) -> None:
    write_into(value, np.sort(value, axis, **options))


def _shape(shape: tuple) -> Any:
    return shape[0] if len(shape) == 1 else shape
