"""What do ``x[key]`` and ``x[key] = value`` do, where the key may be traced?

NumPy itself indexes the positions of the elements, so that all its rules hold. A mask or index
that is traced is first replaced by one that chooses everything it might choose.
"""

import dataclasses
from typing import Any

import numpy as np

from enso_jax.submissions.child._arrays import (
    Traced,
    TracedArray,
    array,
    cast_values,
    constant_of,
    objects,
    wrapped,
)
from enso_jax.submissions.child._cells import Cell, arithmetic, select, settled
from enso_jax.submissions.child._errors import Untraceable
from enso_jax.submissions.child._jax_arrays import look_up
from enso_jax.submissions.child._operands import as_array, is_traced, operand
from enso_jax.submissions.child._scalars import TracedScalar
from enso_jax.submissions.child._selections import Selection, mask_of, nonzero, same_mask


@dataclasses.dataclass(frozen=True)
class Key:
    """An index of which at most one item is traced.

    Attributes:
        items: an index for NumPy; the traced item has a stand-in.
        mask: the Boolean cells of a traced mask.
        index: the cells of a traced index, an array.
        at, axis: which of `items` the traced one is, and the axis that it indexes.
    """

    items: tuple
    mask: np.ndarray | None = None
    index: np.ndarray | None = None
    at: int = 0
    axis: int = 0

    def with_item(self, item: Any) -> tuple:
        """The index with another one in place of the traced item."""
        return (*self.items[: self.at], item, *self.items[self.at + 1 :])

    def numbering(self, shape: tuple[int, ...], count: int, item: Any) -> np.ndarray:
        """For each element of the result, which element of `item` it comes from."""
        rows = np.arange(count).reshape([-1 if a == self.axis else 1 for a in range(len(shape))])
        ghost = np.broadcast_to(rows, [count if a == self.axis else n for a, n in enumerate(shape)])
        return np.asarray(ghost[self.with_item(item)])


def parsed(key: Any, shape: tuple[int, ...]) -> Key:
    """Sorts out an index."""
    items: list[Any] = []
    found: dict[str, Any] = {}
    key = key if isinstance(key, tuple) else (key,)
    key = tuple(as_array(i) if isinstance(i, list) and is_traced(i) else i for i in key)
    key = _without_ellipsis(key, len(shape))
    axis = 0
    for item in key:
        masks = _as_masks(item)
        if masks is not None:
            if "index" in found or not same_mask(found.get("mask", masks[0].mask), masks[0].mask):
                raise Untraceable("an index with two masks or indices that are traced")
            found.setdefault("mask", masks[0].mask)
            found.setdefault("at", len(items))
            found.setdefault("axis", axis)
            items.extend(constant_of(mask.full) for mask in masks)
            axis += len(masks)
            continue
        if isinstance(item, Traced) and is_traced(item):
            if found:
                raise Untraceable("an index with two masks or indices that are traced")
            cells = operand(item)
            if cells.dtype.kind not in "iu":
                raise IndexError("arrays used as indices must be of integer (or boolean) type")
            found = {"index": cells.values, "at": len(items), "axis": axis}
        elif isinstance(item, Traced):
            item = constant_of(item)
            item = item if item.ndim else item[()]
        items.append(item)
        axis += _axes_used(item)
    return Key(tuple(items), **found)


def _without_ellipsis(key: tuple, ndim: int) -> tuple:
    """The index with the slices that ``...`` stands for."""
    at = next((i for i, item in enumerate(key) if item is Ellipsis), None)
    if at is None:
        return key
    used = sum(_axes_used(item) for item in key if item is not Ellipsis)
    return (*key[:at], *(slice(None),) * (ndim - used), *key[at + 1 :])


def _axes_used(item: Any) -> int:
    if item is None or isinstance(item, bool | np.bool_):
        return 0
    dtype = getattr(item, "dtype", None)
    if isinstance(item, list):
        item = np.asarray(item)
        dtype = item.dtype
    return item.ndim if dtype == np.bool_ else 1


def _as_masks(item: Any) -> tuple[Selection, ...] | None:
    """A traced mask as the indices that it chooses from."""
    if isinstance(item, Selection):
        return (item,)
    if isinstance(item, TracedArray) and item.dtype == np.bool_ and is_traced(item):
        return nonzero(item)
    return None


# --- Reading -----------------------------------------------------------------------------------


def read(source: TracedArray, key: Any) -> Any:
    """``source[key]``."""
    if isinstance(key, TracedScalar) and key.dtype == np.bool_:
        key = bool(key)
    parts = parsed(key, source.shape)
    if parts.mask is not None:
        numbers = parts.numbering(source.shape, len(parts.mask), np.arange(len(parts.mask)))
        full = source.view_at(np.array(source.positions[parts.items]))
        return Selection(as_array(full), parts.mask, _axis_of(numbers))
    if parts.index is not None:
        return _look_up(source, parts, parts.index)
    return source.view_at(source.positions[parts.items])


def _axis_of(numbers: np.ndarray) -> int:
    """The axis along which a numbering runs."""
    if numbers.size and numbers.max() > 0:
        return next(a for a in range(numbers.ndim) if np.diff(numbers, axis=a).any())
    return next((a for a, n in enumerate(numbers.shape) if n <= 1), 0)


def _look_up(source: TracedArray, key: Key, index: np.ndarray) -> Any:
    length = source.shape[key.axis]
    values = source.values
    if index.ndim == 0:
        table = np.stack([np.asarray(values[key.with_item(j)]) for j in range(length)])
        return wrapped(look_up(table, source.dtype, index.item()), source.dtype)
    everything = np.arange(index.size).reshape(index.shape)
    numbers = key.numbering(source.shape, index.size, everything)
    tables = np.stack([values[key.with_item(np.full(index.shape, j))] for j in range(length)])
    results = np.empty(numbers.size, object)
    for i, number in enumerate(numbers.reshape(-1)):
        table, cell = tables.reshape(length, -1)[:, i], settled(index.flat[number])
        results[i] = (
            look_up(table, source.dtype, cell)[()] if isinstance(cell, Cell) else table[cell]
        )
    return wrapped(results.reshape(numbers.shape), source.dtype)


# --- Writing -----------------------------------------------------------------------------------


def write(target: TracedArray, key: Any, value: Any) -> None:
    """``target[key] = value``."""
    if not target.flags.writeable:
        raise ValueError("assignment destination is read-only")
    parts = parsed(key, target.shape)
    if parts.index is not None:
        _write_index(target, parts, parts.index, value)
        return
    places = np.asarray(target.positions[parts.items])
    if parts.mask is None:
        found = operand(value)
        values = cast_values(found.values, found.dtype, target.dtype)
        target.fill_at(places, _broadcast(values, places.shape))
        return
    numbers = parts.numbering(target.shape, len(parts.mask), np.arange(len(parts.mask)))
    numbers = np.broadcast_to(numbers, places.shape)
    value = _unmasked(value, parts.mask, _axis_of(numbers), places.ndim)
    found = operand(value)
    values = np.broadcast_to(cast_values(found.values, found.dtype, target.dtype), places.shape)
    old = operand(target.view_at(np.array(places))).values
    written = [
        select(parts.mask[n], new, kept, target.dtype)
        for n, new, kept in zip(numbers.flat, values.flat, old.flat, strict=True)
    ]
    target.fill_at(places, array(objects(written, places.shape), target.dtype).values)


def _broadcast(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """As an assignment broadcasts: leading axes of length one may be left over."""
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values[0]
    return np.broadcast_to(values, shape)


def _unmasked(value: Any, mask: np.ndarray, axis: int, ndim: int) -> Any:
    if isinstance(value, Selection):
        if not same_mask(value.mask, mask):
            raise Untraceable("elements that one mask chose are assigned through another")
        return value.full
    shape = np.shape(value)
    if len(shape) >= ndim - axis and shape[axis - ndim] != 1:
        raise Untraceable("an array is assigned through a mask: as many elements as it chooses")
    return value


def _write_index(target: TracedArray, key: Key, index: np.ndarray, value: Any) -> None:
    """Writes wherever the index may point, if it points there."""
    length = target.shape[key.axis]
    everything = np.arange(index.size).reshape(index.shape)
    numbers = (
        key.numbering(target.shape, index.size, everything)
        if index.ndim
        else np.zeros(np.shape(target.positions[key.with_item(0)]), int)
    )
    found = operand(value)
    values = cast_values(found.values, found.dtype, target.dtype)
    values = _broadcast(values, numbers.shape).reshape(-1)
    places = [
        np.asarray(target.positions[key.with_item(np.full(index.shape, j)[()])]).reshape(-1)
        for j in range(length)
    ]
    for i, number in enumerate(numbers.reshape(-1)):
        cell = index.flat[number]
        for j in range(length):
            here = arithmetic(
                np.logical_or, arithmetic(np.equal, cell, j), arithmetic(np.equal, cell, j - length)
            )
            place = np.array([places[j][i]])
            kept = operand(target.view_at(place)).values[0]
            chosen = objects([select(here, values[i], kept, target.dtype)], (1,))
            target.fill_at(place, array(chosen, target.dtype).values)


__all__ = ["mask_of", "read", "write"]
