"""What do a submission's arrays and numbers become, while its step is traced?

`TracedArray` looks like a `numpy.ndarray`, `TracedScalar` like a `numpy.float64` or a Python
float. Their elements are cells and constants. An array remembers where its elements lie in a
storage that its views share, so that writing through a view writes to the array itself.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from enso_jax.submissions.child._branches import value_of
from enso_jax.submissions.child._cells import Cell, cast, settled
from enso_jax.submissions.child._errors import Untraceable

_COUNT = iter(range(10**12))


def text_of(traced: Any) -> str:
    """A text for a traced value, which is no other value's: a key made of it is never found."""
    return f"<traced {type(traced).__name__} {next(_COUNT)}>"


class Traced:
    """What dispatches NumPy's functions and operators to their counterparts here."""

    __slots__ = ()
    __array_priority__ = 1e6

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        # Imported late, as are all functions of arrays in this module: they are made of arrays.
        from enso_jax.submissions.child._ufuncs import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function, types, arguments, options):
        from enso_jax.submissions.child._functions import call

        return call(function, arguments, options)

    def __str__(self) -> str:
        return text_of(self)

    def __format__(self, specification: str) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        return text_of(self)


class Storage:
    """The elements of an array and of its views.

    Attributes:
        flat: ``(element,)``, numbers of type `dtype`, or objects: cells and Python numbers.
    """

    __slots__ = ("dtype", "flat")

    def __init__(self, flat: np.ndarray, dtype: np.dtype):
        self.flat = flat
        self.dtype = dtype


class TracedArray(Traced, np.lib.mixins.NDArrayOperatorsMixin):
    """A NumPy array whose elements may be traced.

    Args:
        storage: its elements and perhaps others.
        positions: where in the storage each element lies. What NumPy does to this array (slicing,
            transposing, reshaping) is what it would do to the elements: a view stays a view.
    """

    __slots__ = ("_positions", "_storage")
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, storage: Storage, positions: np.ndarray):
        self._storage = storage
        self._positions = positions

    # --- What it is -----------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype:
        return self._storage.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._positions.shape

    @shape.setter
    def shape(self, shape: tuple[int, ...]) -> None:
        self._positions.shape = shape

    @property
    def ndim(self) -> int:
        return self._positions.ndim

    @property
    def size(self) -> int:
        return self._positions.size

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def flags(self) -> Any:
        return self._positions.flags

    def setflags(self, **flags: bool) -> None:
        self._positions.setflags(**flags)

    @property
    def values(self) -> np.ndarray:
        """The elements, a copy: numbers of type `dtype` if none is traced, else objects."""
        return self._storage.flat[self._positions.reshape(-1)].reshape(self.shape)

    @property
    def is_constant(self) -> bool:
        return self._storage.flat.dtype != object or not has_cells(self.values)

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(constant_of(self), dtype)

    # --- Elements -------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        from enso_jax.submissions.child._indexing import read

        return read(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        from enso_jax.submissions.child._indexing import write

        write(self, key, value)

    def view_at(self, positions: Any) -> Any:
        """The elements at some positions of the storage: a view where NumPy makes one."""
        if not isinstance(positions, np.ndarray):
            return scalar(self._storage.flat[positions], self.dtype)
        if np.may_share_memory(positions, self._positions):
            return TracedArray(self._storage, positions)
        values = self._storage.flat[positions.reshape(-1)].reshape(positions.shape)
        return array(values, self.dtype)

    @property
    def positions(self) -> np.ndarray:
        return self._positions

    def fill_at(self, positions: np.ndarray, values: np.ndarray) -> None:
        """Writes values, already of this array's dtype, to positions of the storage."""
        storage = self._storage
        if values.dtype == object and storage.flat.dtype != object:
            storage.flat = storage.flat.astype(object)
        if values.dtype != object and storage.flat.dtype == object:
            values = values.astype(object)
        storage.flat[positions.reshape(-1)] = np.broadcast_to(values, positions.shape).reshape(-1)

    def item(self, *index: Any) -> Any:
        element = self[index if index else (0,) * self.ndim] if self.size == 1 or index else None
        if element is None:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return element.item()

    def tolist(self) -> Any:
        return [e.tolist() for e in self] if self.ndim else self.item()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous."
                " Use a.any() or a.all()"
            )
        return bool(self.reshape(-1)[0])

    def __index__(self) -> int:
        if self.ndim:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self[()].__index__()

    def __float__(self) -> float:
        return float(constant_of(self))

    def __int__(self) -> int:
        return int(constant_of(self))

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.item(), digits)

    def __contains__(self, element: Any) -> bool:
        return bool((self == element).any())

    # --- Methods --------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        from enso_jax.submissions.child._methods import method

        return method(self, name)

    @property
    def T(self) -> "TracedArray":  # noqa: N802 - NumPy's name
        return self.view_at(self._positions.T)

    def fill(self, value: Any) -> None:
        self[...] = value

    def astype(self, dtype: Any, **options: Any) -> "TracedArray":
        return array(self.values, self.dtype).cast(np.dtype(dtype))

    def cast(self, dtype: np.dtype) -> "TracedArray":
        """A copy as another type."""
        return array(cast_values(self.values, self.dtype, dtype), dtype)

    def copy(self, order: str = "C") -> "TracedArray":
        return array(self.values, self.dtype)

    __copy__ = copy

    def __deepcopy__(self, memo: dict) -> "TracedArray":
        return self.copy()


# --- Making arrays -----------------------------------------------------------------------


def has_cells(values: np.ndarray) -> bool:
    """Whether an element is traced, and not known on the path being taken."""
    return values.dtype == object and any(isinstance(settled(v), Cell) for v in values.flat)


def array(values: np.ndarray, dtype: np.dtype) -> TracedArray:
    """A new array of these values, cells or numbers."""
    if values.dtype != object:
        flat = np.array(values, dtype).reshape(-1)
    elif has_cells(values):
        flat = np.array(values, object).reshape(-1)
    else:
        flat = np.array([settled(v) for v in values.flat], dtype)
    positions = np.arange(flat.size).reshape(values.shape)
    return TracedArray(Storage(flat, dtype), positions)


def wrapped(values: np.ndarray, dtype: np.dtype) -> Any:
    """What NumPy returns for these values: an array, or a scalar if there is but one."""
    return array(values, dtype) if values.ndim else scalar(values[()], dtype)


def scalar(number: Any, dtype: np.dtype, python: bool = False) -> Any:
    """A cell or a constant as NumPy's scalar, or as Python's."""
    number = settled(number)
    if isinstance(number, Cell):
        from enso_jax.submissions.child._scalars import TracedScalar

        return TracedScalar(number, python)
    result = dtype.type(number)
    return result.item() if python else result


def cast_values(values: np.ndarray, given: np.dtype, dtype: np.dtype) -> np.ndarray:
    """Elements as another type."""
    if values.dtype != object:
        return values.astype(dtype)
    if given == dtype:
        return values
    result = np.empty(values.size, object)
    for i, number in enumerate(values.flat):
        result[i] = cast(number, dtype)
    return result.reshape(values.shape)


def constant_of(traced: Any) -> np.ndarray:
    """The numbers of an array of which none is traced.

    Raises:
        Untraceable: if one is.
    """
    if not traced.is_constant:
        raise Untraceable(
            "a value that depends on the state, the time or the noise is given to a function that"
            " has no counterpart in JAX"
        )
    values = traced.values
    if values.dtype != object:
        return values
    return array(values, traced.dtype).values


def objects(items: Iterable[Any], shape: tuple[int, ...]) -> np.ndarray:
    """An array of objects; NumPy must not look into them."""
    items = list(items)
    result = np.empty(len(items), object)
    for i, item in enumerate(items):
        result[i] = item
    return result.reshape(shape)


__all__ = [
    "Storage",
    "Traced",
    "TracedArray",
    "array",
    "cast_values",
    "constant_of",
    "has_cells",
    "objects",
    "scalar",
    "text_of",
    "value_of",
    "wrapped",
]
