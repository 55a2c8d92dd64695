"""What is ``x[mask]`` while it is not known how many elements the mask chooses?

All elements, with the mask beside them: arithmetic is done on all, and an assignment back
through the same mask writes only where it is true.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from enso_jax.submissions.child._arrays import Traced, TracedArray, array, objects
from enso_jax.submissions.child._cells import Cell, settled
from enso_jax.submissions.child._errors import Untraceable


class Selection(Traced, np.lib.mixins.NDArrayOperatorsMixin):
    """Those elements of an array that a mask chooses along an axis.

    Args:
        full: all of them.
        mask: ``(element along the axis,)``, Boolean cells and constants.
        axis: of `full`.
    """

    __hash__ = None  # pyright: ignore[reportAttributeAccessIssue]
    __slots__ = ("axis", "full", "mask")

    def __init__(self, full: TracedArray, mask: np.ndarray, axis: int):
        self.full = full
        self.mask = mask
        self.axis = axis

    @property
    def is_constant(self) -> bool:
        return False

    @property
    def dtype(self) -> np.dtype:
        return self.full.dtype

    @property
    def ndim(self) -> int:
        return self.full.ndim

    @property
    def size(self) -> Any:
        others = self.full.size // max(len(self.mask), 1)
        return array(self.mask, np.dtype(bool)).sum() * others

    def __len__(self) -> int:
        from enso_jax.submissions.child._branches import value_of

        if self.axis:
            return len(self.full)
        count = array(self.mask, np.dtype(bool)).sum()
        return value_of(count.cell) if hasattr(count, "cell") else int(count)

    def spread(self) -> TracedArray:
        """The mask, in the shape of `full`."""
        shape = [1] * self.ndim
        shape[self.axis] = len(self.mask)
        mask = np.broadcast_to(self.mask.reshape(shape), self.full.shape)
        return array(mask, np.dtype(bool))

    def become(self, other: "Selection") -> "Selection":
        """Takes the values that an operation in place gave."""
        if not np.can_cast(other.dtype, self.dtype, "same_kind"):
            raise TypeError(f"Cannot cast output from {other.dtype!r} to {self.dtype!r}")
        self.full = other.full.astype(self.dtype)
        return self

    def astype(self, dtype: Any, **options: Any) -> "Selection":
        return Selection(self.full.astype(dtype), self.mask, self.axis)

    def copy(self) -> "Selection":
        return Selection(self.full.copy(), self.mask, self.axis)

    def __getitem__(self, key: Any) -> Any:
        first, *others = key if isinstance(key, tuple) else (key,)
        if self.axis or not (first is Ellipsis or first == slice(None)):
            raise Untraceable("an element is picked from those that a mask chose")
        return Selection(self.full[(slice(None), *others)], self.mask, 0)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise Untraceable("elements that a mask chose are written to")

    def __iter__(self) -> Any:
        raise Untraceable("a loop over the elements that a mask chose")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise Untraceable("elements that a mask chose are given to a function outside NumPy")

    def sum(self, axis: int | None = None, **options: Any) -> Any:
        self._check_axis(axis)
        return np.where(self.spread(), self.full, self.dtype.type(0)).sum(axis=axis)

    def any(self, axis: int | None = None) -> Any:
        self._check_axis(axis)
        return (self.spread() & (self.full != 0)).any(axis=axis)

    def all(self, axis: int | None = None) -> Any:
        self._check_axis(axis)
        return (~self.spread() | (self.full != 0)).all(axis=axis)

    def mean(self, axis: int | None = None) -> Any:
        return self.sum(axis) / self.spread().sum(axis=axis)

    def clip(self, *bounds: Any, **options: Any) -> Any:
        return np.clip(self, *bounds, **options)

    def _check_axis(self, axis: int | None) -> None:
        if axis is not None and axis % self.ndim != self.axis:
            raise Untraceable("a reduction of the elements that a mask chose, along another axis")


def has_selection(values: Any) -> bool:
    """Whether one of the arguments, or of the items of one, is a selection."""
    if isinstance(values, list | tuple):
        return any(has_selection(value) for value in values)
    return isinstance(values, Selection)


def same_mask(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two masks are one: what is computed twice is the same cell."""
    pairs = zip(a, b, strict=False)
    return len(a) == len(b) and all(settled(p) is settled(q) for p, q in pairs)


def lifted(function: Callable[..., Any], arguments: tuple) -> Selection:
    """An elementwise function of selections through the same mask, and of what broadcasts."""
    given = [a for a in arguments if isinstance(a, Selection)]
    if not given:
        raise Untraceable("a list of elements that a mask chose")
    widest = max(given, key=lambda selection: selection.ndim)
    from_end = widest.axis - widest.ndim
    for other in given:
        if not same_mask(other.mask, widest.mask) or other.axis - other.ndim != from_end:
            raise Untraceable("elements chosen by different masks are combined")
    plain = []
    for argument in arguments:
        if isinstance(argument, Selection):
            plain.append(argument.full)
            continue
        shape = np.shape(argument)
        if len(shape) >= -from_end and shape[from_end] != 1:
            raise Untraceable("elements that a mask chose are combined with an array")
        plain.append(argument)
    result = function(*plain)
    return Selection(result, widest.mask, result.ndim + from_end)


def nonzero(value: TracedArray) -> tuple[Selection, ...]:
    """``numpy.nonzero`` of a traced array: all indices along each axis, chosen by the array."""
    truth = value.astype(bool)
    mask = mask_of(truth)
    indices = np.unravel_index(np.arange(truth.size), truth.shape)
    return tuple(Selection(array(i, np.dtype(np.int64)), mask, 0) for i in indices)


def mask_of(truth: TracedArray) -> np.ndarray:
    """The elements of a Boolean array, flat, as cells and Python truth values."""
    elements = [settled(e) for e in truth.values.reshape(-1)]
    return objects((e if isinstance(e, Cell) else bool(e) for e in elements), (len(elements),))
