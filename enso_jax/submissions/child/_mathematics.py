"""What is `math` to a submission? Its functions of traced numbers are NumPy's."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from enso_jax.submissions.child._arrays import TracedArray
from enso_jax.submissions.child._numbers import to_float
from enso_jax.submissions.child._operands import constants, is_traced
from enso_jax.submissions.child._scalars import python

_MATH_NAMES = {
    **{
        name: name
        for name in [
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
            "exp",
            "expm1",
            "log1p",
            "log2",
            "log10",
            "sqrt",
        ]
    },
    **{
        name: name
        for name in ["fabs", "fmod", "hypot", "copysign", "degrees", "radians", "exp2", "cbrt"]
    },
    **{name: name for name in ["isnan", "isinf", "isfinite"]},
    **{f"a{name}": f"arc{name}" for name in ["sin", "cos", "tan", "sinh", "cosh", "tanh"]},
    "atan2": "arctan2",
    "pow": "power",
}


def _math(name: str, traced: Callable) -> Callable:
    real = getattr(math, name)

    @functools.wraps(real)
    def function(*arguments: Any, **options: Any) -> Any:
        if not is_traced((arguments, options)):
            return real(*constants(arguments), **constants(options))
        arguments = tuple(_single(argument) for argument in arguments)
        return python(traced(*arguments, **options))

    return function


def _single(value: Any) -> Any:
    """What `math` takes: one number."""
    return to_float(value) if isinstance(value, TracedArray) else value


def _log(value: Any, base: Any = math.e) -> Any:
    return np.log(value) if base == math.e else np.log(value) / np.log(base)


#: By name.
MATH = {
    **{name: _math(name, getattr(np, numpy)) for name, numpy in _MATH_NAMES.items()},
    "log": _math("log", _log),
    "floor": _math("floor", math.floor),
    "ceil": _math("ceil", math.ceil),
    "trunc": _math("trunc", math.trunc),
    "erf": _math("erf", scipy.special.erf),
    "erfc": _math("erfc", scipy.special.erfc),
    "lgamma": _math("lgamma", scipy.special.gammaln),
    "gamma": _math("gamma", scipy.special.gamma),
    "fsum": _math("fsum", sum),
    "prod": _math(
        "prod", lambda values, start=1: functools.reduce(lambda a, b: a * b, values, start)
    ),
    "isclose": _math(
        "isclose",
        lambda a, b, rel_tol=1e-9, abs_tol=0.0: (
            abs(a - b) <= np.maximum(rel_tol * np.maximum(abs(a), abs(b)), abs_tol)
        ),
    ),
}
