"""What if a submission draws from a generator of its own?

Its numbers would be no noise of the grader's. While a module is imported that is harmless:
a table drawn from a fixed seed is a constant. In a step it is refused.
"""

import importlib
import types
from typing import Any

import numpy as np

from enso_jax.submissions.child._errors import Untraceable
from enso_jax.submissions.child._operands import constants, is_traced, traceable

_REFUSED = "{name} draws from a generator of its own; step has to draw from its argument rng"


class _Importing:
    """Whether the submission's modules are being imported."""

    now = False


def set_importing(now: bool) -> None:
    """Says whether modules are being imported, or the step is being called."""
    _Importing.now = now


class _OwnGenerator:
    """``numpy.random.default_rng(seed)``: draws only while the module is imported."""

    def __init__(self, real: Any, is_seeded: bool):
        self._real = real
        self._is_seeded = is_seeded

    def __getattr__(self, name: str) -> Any:
        def draw(*arguments: Any, **options: Any) -> Any:
            if not (_Importing.now and self._is_seeded):
                raise Untraceable(_REFUSED.format(name=f"np.random.Generator.{name}"))
            return traceable(getattr(self._real, name)(*constants(arguments), **options))

        return draw


class _NumpyRandom(types.ModuleType):
    """`numpy.random`."""

    Generator = np.random.Generator
    BitGenerator = np.random.BitGenerator
    SeedSequence = np.random.SeedSequence

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        real = getattr(np.random, name)

        def refuse_or_make(*arguments: Any, **options: Any) -> Any:
            if is_traced((arguments, options)):
                raise Untraceable(_REFUSED.format(name=f"np.random.{name}"))
            seeded = any(a is not None for a in (*arguments, *options.values()))
            if name in ("default_rng", "RandomState") and (_Importing.now or seeded):
                return _OwnGenerator(real(*arguments, **options), seeded)
            raise Untraceable(_REFUSED.format(name=f"np.random.{name}"))

        return refuse_or_make if callable(real) else real


class _StandardRandom(types.ModuleType):
    """`random` of the standard library."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if not hasattr(importlib.import_module("random"), name):
            raise AttributeError(name)

        def refuse(*arguments: Any, **options: Any) -> Any:
            raise Untraceable(_REFUSED.format(name=f"random.{name}"))

        return refuse


RANDOM_MODULE = _NumpyRandom("numpy.random")
STANDARD_RANDOM = _StandardRandom("random")
