"""What does a submission get when it imports NumPy, `math` or SciPy, or says ``float``?

Stand-ins: constants go to the real functions, traced values to their counterparts. The arrays
that NumPy makes are `TracedArray`, so that traced values can be written into them later.
"""

import builtins
import functools
import importlib
import inspect
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from enso_jax.submissions.child._errors import Untraceable
from enso_jax.submissions.child._functions import call
from enso_jax.submissions.child._mathematics import MATH
from enso_jax.submissions.child._numbers import FLOAT_TYPE, INT_TYPE, NDARRAY, scalar_type
from enso_jax.submissions.child._operands import as_array, constants, is_traced, traceable
from enso_jax.submissions.child._own_generators import RANDOM_MODULE, STANDARD_RANDOM
from enso_jax.submissions.child._scalars import is_python_number, python
from enso_jax.submissions.child._ufuncs import apply_ufunc

# --- Modules ------------------------------------------------------------------------------------


class StandIn(types.ModuleType):
    """A module whose attributes are replaced where need be.

    Args:
        name: of the real module.
        given: attributes that are not the real ones.
        convert: what becomes of a real attribute.
    """

    def __init__(self, name: str, given: dict[str, Any], convert: Callable[[Any], Any]):
        super().__init__(name)
        self.__dict__.update(given)
        self.__dict__["_convert"] = convert

    def __getattr__(self, name: str) -> Any:
        if name in ("__path__", "__file__", "__spec__", "__wrapped__"):
            raise AttributeError(name)
        real = importlib.import_module(self.__name__)
        try:
            found = getattr(real, name)
        except AttributeError:
            found = importlib.import_module(f"{self.__name__}.{name}")
        converted = self.__dict__["_convert"](found)
        self.__dict__[name] = converted
        return converted

    def __dir__(self) -> list[str]:
        return dir(importlib.import_module(self.__name__))


class UfuncStandIn:
    """A ufunc, whose results can be written to."""

    def __init__(self, real: np.ufunc):
        self._real = real
        self.__name__ = real.__name__

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._apply("__call__", arguments, options)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name in ("reduce", "accumulate", "outer", "at", "reduceat"):
            return functools.partial(self._method, name)
        return found

    def _method(self, name: str, *arguments: Any, **options: Any) -> Any:
        return self._apply(name, arguments, options)

    def _apply(self, name: str, arguments: tuple, options: dict) -> Any:
        if name == "__call__" and len(arguments) > self._real.nin:
            options = {**options, "out": arguments[self._real.nin :]}
            arguments = arguments[: self._real.nin]
        return apply_ufunc(self._real, name, arguments, options)


def _attribute(real: Any) -> Any:
    """A function, type or module of NumPy or SciPy as a submission gets it."""
    if isinstance(real, np.ufunc):
        return UfuncStandIn(real)
    if isinstance(real, type):
        return _TYPES.get(real) or (scalar_type(real) if issubclass(real, np.generic) else real)
    if isinstance(real, types.ModuleType):
        return stand_in(real.__name__) or real
    if callable(real) and (
        inspect.isroutine(real) or type(real).__name__ == "_ArrayFunctionDispatcher"
    ):
        return _function(real)
    return traceable(real)


def _function(real: Callable) -> Callable:
    @functools.wraps(real)
    def function(*arguments: Any, **options: Any) -> Any:
        return call(real, arguments, options)

    return function


# --- What calls back, and what JAX does not have --------------------------------------------------


class _Vectorize:
    """`numpy.vectorize`: a call for each element."""

    def __init__(self, function: Callable, otypes: Any = None, **options: Any):
        if options.get("signature") is not None or options.get("excluded"):
            raise Untraceable("np.vectorize with a signature or excluded arguments")
        self._function = function
        self._otypes = otypes

    def __call__(self, *arguments: Any) -> Any:
        arrays = np.broadcast_arrays(*(as_array(a) for a in arguments))
        shape = arrays[0].shape
        rows = [self._function(*(a[index] for a in arrays)) for index in np.ndindex(shape)]
        result = as_array(rows, self._otypes[0] if self._otypes else None).reshape(shape)
        return result if shape else result[()]


class _Joined:
    """`numpy.c_` and `numpy.r_`, of arrays and numbers.

    Args:
        real: NumPy's own, for constants.
        axis: along which they are joined.
    """

    def __init__(self, real: Any, axis: int):
        self._real = real
        self._axis = axis

    def __getitem__(self, key: Any) -> Any:
        if not is_traced(key):
            return traceable(self._real[constants(key)])
        parts = []
        for item in key if isinstance(key, tuple) else (key,):
            if isinstance(item, str | slice):
                raise Untraceable("np.c_ or np.r_ of a slice or a text")
            part = np.atleast_1d(as_array(item))
            parts.append(part.reshape(-1, 1) if self._axis and part.ndim == 1 else part)
        return np.concatenate(parts, axis=-1 if self._axis else 0)


def _nditer(*arguments: Any, **options: Any) -> Any:
    raise Untraceable("np.nditer has no counterpart in JAX")


def _errstate(**options: Any) -> Any:
    if "raise" in options.values() or "call" in options.values():
        raise Untraceable("floating-point errors are made exceptions, which JAX does not have")
    return np.errstate(**options)


def _seterr(**options: Any) -> Any:
    if "raise" in options.values() or "call" in options.values():
        raise Untraceable("floating-point errors are made exceptions, which JAX does not have")
    return np.seterr(**options)


_TYPES: dict[type, Any] = {np.ndarray: NDARRAY, np.vectorize: _Vectorize}

# --- functools ----------------------------------------------------------------------------------


def _lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
    """`functools.lru_cache` of what is constant; a traced argument is no key."""
    if callable(maxsize):
        return _lru_cache()(maxsize)

    def decorate(function: Callable) -> Callable:
        cached = functools.lru_cache(maxsize, typed)(function)

        @functools.wraps(function)
        def remembered(*arguments: Any, **options: Any) -> Any:
            if is_traced((arguments, options)):
                return function(*arguments, **options)
            return cached(*arguments, **options)

        for name in ("cache_clear", "cache_info", "cache_parameters"):
            setattr(remembered, name, getattr(cached, name))
        return remembered

    return decorate


# --- builtins -----------------------------------------------------------------------------------


def _extreme(real: Callable, ufunc: np.ufunc) -> Callable:
    """`min` and `max`, without a branch where they are of traced numbers."""

    @functools.wraps(real)
    def extreme(*arguments: Any, **options: Any) -> Any:
        values = arguments
        if len(arguments) == 1:
            values = tuple(arguments[0])
            arguments = (values,)
        if options or not is_traced(values):
            return real(*arguments, **options)
        result = functools.reduce(ufunc, values)
        return python(result) if all(is_python_number(value) for value in values) else result

    return extreme


def _print(*arguments: Any, **options: Any) -> None:
    """What a submission prints is dropped."""


BUILTINS: dict[str, Any] = {
    **vars(builtins),
    "float": FLOAT_TYPE,
    "int": INT_TYPE,
    "min": _extreme(min, np.minimum),
    "max": _extreme(max, np.maximum),
    "print": _print,
}

# --- scipy.stats --------------------------------------------------------------------------------


class _Normal:
    """`scipy.stats.norm`."""

    def __getattr__(self, name: str) -> Any:
        real = getattr(importlib.import_module("scipy.stats").norm, name)
        formula = _NORMAL.get(name)

        def function(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
            if not is_traced((x, loc, scale)):
                return traceable(real(*constants((x, loc, scale))))
            if formula is None:
                raise Untraceable(f"scipy.stats.norm.{name} of a traced value")
            return formula(x, loc, scale)

        return function if formula or callable(real) else real


_NORMAL = {
    "cdf": lambda x, loc, scale: scipy.special.ndtr((x - loc) / scale),
    "sf": lambda x, loc, scale: scipy.special.ndtr((loc - x) / scale),
    "pdf": lambda x, loc, scale: (
        np.exp(-(((x - loc) / scale) ** 2) / 2) / (scale * math.sqrt(2 * math.pi))
    ),
    "logpdf": lambda x, loc, scale: (
        -(((x - loc) / scale) ** 2) / 2 - np.log(scale * math.sqrt(2 * math.pi))
    ),
    "ppf": lambda x, loc, scale: loc + scale * scipy.special.ndtri(x),
}

# --- All of them ----------------------------------------------------------------------------------

_GIVEN: dict[str, dict[str, Any]] = {
    "numpy": {
        "c_": _Joined(np.c_, 1),
        "r_": _Joined(np.r_, 0),
        "nditer": _nditer,
        "errstate": _errstate,
        "seterr": _seterr,
        "random": RANDOM_MODULE,
        "typing": np.typing,
        "newaxis": None,
        "ufunc": np.ufunc,
        "bool": scalar_type(np.bool_),
        "float_power": UfuncStandIn(np.float_power),
    },
    "numpy.linalg": {},
    "math": MATH,
    "functools": {"lru_cache": _lru_cache, "cache": _lru_cache(maxsize=None)},
    "scipy": {},
    "scipy.linalg": {},
    "scipy.special": {},
    "scipy.stats": {"norm": _Normal()},
}

_UNCHANGED = ("math", "functools")


@functools.cache
def stand_in(name: str) -> types.ModuleType | None:
    """What is imported instead of a module, None for the module itself."""
    if name == "numpy.random":
        return RANDOM_MODULE
    if name == "random":
        return STANDARD_RANDOM
    if name not in _GIVEN:
        return None
    convert = (lambda real: real) if name in _UNCHANGED else _attribute
    return StandIn(name, _GIVEN[name], convert)
