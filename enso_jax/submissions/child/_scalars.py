"""What is a single traced number to the submission's code: `numpy.float64`, or Python's float?

The two differ where NumPy promotes types: a Python number takes the type of what it meets.
Neither can be changed in place, so ``s += h`` makes a new number, as in NumPy.
"""

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from enso_jax.submissions.child._arrays import Traced, array, objects, scalar
from enso_jax.submissions.child._branches import value_of
from enso_jax.submissions.child._cells import Cell, cast, settled
from enso_jax.submissions.child._errors import Untraceable

FLOAT = np.dtype(np.float64)
INT = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)


def is_python_number(number: Any) -> bool:
    """Whether a number is Python's own, traced or not. `numpy.float64` is a float, but NumPy's."""
    if isinstance(number, TracedScalar):
        return number.is_python
    return isinstance(number, bool | int | float | complex) and not isinstance(number, np.generic)


def _binary(ufunc: np.ufunc, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def operator(self: "TracedScalar", other: Any) -> Any:
        sequence = isinstance(other, list | tuple) and not self.is_python
        if not (sequence or isinstance(other, Traced | np.ndarray | np.generic | numbers.Number)):
            return NotImplemented
        pair = (other, self) if reflected else (self, other)
        if not (self.is_python and is_python_number(other)):
            return ufunc(*pair)
        if ufunc not in (np.bitwise_and, np.bitwise_or, np.bitwise_xor):
            # Python computes with truth values as with 0 and 1; NumPy does not.
            pair = tuple(_as_whole_number(number) for number in pair)
        return python(ufunc(*pair))

    return operator


def _as_whole_number(number: Any) -> Any:
    if isinstance(number, TracedScalar) and number.dtype == BOOL:
        return scalar(cast(number.cell, INT), INT, python=True)
    return int(number) if isinstance(number, bool) else number


def python(number: Any) -> Any:
    """A number as Python's own: `float`, `int` or `bool`."""
    if isinstance(number, TracedScalar):
        return TracedScalar(number.cell, True)
    if isinstance(number, tuple):
        return tuple(python(n) for n in number)
    return number.item() if isinstance(number, np.generic) else number


class TracedScalar(Traced):
    """A traced number.

    Args:
        cell: its value.
        is_python: whether it stands for a Python number, else for a NumPy scalar.
    """

    __slots__ = ("cell", "is_python")

    def __init__(self, cell: Cell, is_python: bool = False):
        self.cell = cell
        self.is_python = is_python

    dtype = property(lambda self: self.cell.dtype)
    shape = property(lambda self: ())
    ndim = property(lambda self: 0)
    size = property(lambda self: 1)

    @property
    def values(self) -> np.ndarray:
        return objects([self.cell], ())

    @property
    def is_constant(self) -> bool:
        return not isinstance(settled(self.cell), Cell)

    __add__, __radd__ = _binary(np.add), _binary(np.add, True)
    __sub__, __rsub__ = _binary(np.subtract), _binary(np.subtract, True)
    __mul__, __rmul__ = _binary(np.multiply), _binary(np.multiply, True)
    __truediv__, __rtruediv__ = _binary(np.divide), _binary(np.divide, True)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide), _binary(np.floor_divide, True)
    __mod__, __rmod__ = _binary(np.remainder), _binary(np.remainder, True)
    __divmod__, __rdivmod__ = _binary(np.divmod), _binary(np.divmod, True)
    __pow__, __rpow__ = _binary(np.power), _binary(np.power, True)
    __and__, __rand__ = _binary(np.bitwise_and), _binary(np.bitwise_and, True)
    __or__, __ror__ = _binary(np.bitwise_or), _binary(np.bitwise_or, True)
    __xor__, __rxor__ = _binary(np.bitwise_xor), _binary(np.bitwise_xor, True)
    __lt__, __le__ = _binary(np.less), _binary(np.less_equal)
    __gt__, __ge__ = _binary(np.greater), _binary(np.greater_equal)
    __eq__, __ne__ = _binary(np.equal), _binary(np.not_equal)

    def _unary(self, ufunc: np.ufunc) -> Any:
        result = ufunc(_as_whole_number(self) if self.is_python else self)
        return python(result) if self.is_python else result

    def __neg__(self) -> Any:
        return self._unary(np.negative)

    def __pos__(self) -> Any:
        return self._unary(np.positive)

    def __abs__(self) -> Any:
        return self._unary(np.absolute)

    def __invert__(self) -> Any:
        return self._unary(np.invert)

    # --- Where Python needs the value itself ------------------------------------------------

    def __bool__(self) -> bool:
        return bool(value_of(cast(self.cell, BOOL)))

    def __index__(self) -> int:
        if self.dtype.kind not in "iub":
            raise TypeError(f"'{self.dtype}' object cannot be interpreted as an integer")
        return int(value_of(self.cell))

    def __hash__(self) -> int:
        return hash(value_of(self.cell))

    def __float__(self) -> float:
        return float(value_of(self.cell))

    def __int__(self) -> int:
        return int(value_of(self.cell))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if not self.is_constant:
            raise Untraceable(
                "a number that depends on the state, the time or the noise is given to a function"
                " that has no counterpart in JAX"
            )
        return np.asarray(settled(self.cell), dtype or self.dtype)

    # --- Rounding ---------------------------------------------------------------------------

    def _rounded(self, ufunc: np.ufunc) -> Any:
        result = ufunc(_as_whole_number(self))
        return whole(result) if isinstance(result, TracedScalar) else int(result)

    def __trunc__(self) -> Any:
        return self._rounded(np.trunc)

    def __floor__(self) -> Any:
        return self._rounded(np.floor)

    def __ceil__(self) -> Any:
        return self._rounded(np.ceil)

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None:
            return self._rounded(np.rint)
        result = np.round(self, digits)
        return python(result) if self.is_python else result

    def is_integer(self) -> Any:
        return np.equal(self, np.floor(self))

    # --- What NumPy's scalars can do as well ------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        from enso_jax.submissions.child._methods import method

        return method(self, name)

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        return self

    def item(self) -> Any:
        return python(self)

    tolist = item

    def astype(self, dtype: Any, **options: Any) -> Any:
        dtype = np.dtype(dtype)
        return scalar(cast(self.cell, dtype), dtype)

    def copy(self, order: str = "C") -> Any:
        return self

    __copy__ = copy

    def __deepcopy__(self, memo: dict) -> Any:
        return self

    def __getitem__(self, key: Any) -> Any:
        if self.is_python:
            raise TypeError("'float' object is not subscriptable")
        return array(self.values, self.dtype)[key]


# Code asks for `numbers.Real` to tell numbers from arrays.
numbers.Real.register(TracedScalar)


def whole(number: "TracedScalar") -> "TracedScalar":
    """A traced number cut to a whole one, as Python's `int`."""
    return scalar(cast(number.cell, INT), INT, python=True)
