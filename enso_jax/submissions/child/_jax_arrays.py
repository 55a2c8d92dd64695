"""How do cells become an array of JAX, for what only arrays can do, and come back from it?"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from enso_jax.submissions.child._cells import Cell, Trace, cast, identity, raw


def gathered(values: np.ndarray, dtype: np.dtype) -> jax.Array:
    """An array of cells and constants as one JAX array."""
    if values.dtype != object:
        return jnp.asarray(values.astype(dtype))
    numbers = [jnp.asarray(raw(cast(v, dtype), dtype)) for v in values.reshape(-1)]
    return jnp.stack(numbers).reshape(values.shape) if numbers else jnp.zeros(values.shape, dtype)


def scattered(trace: Trace, array: jax.Array) -> np.ndarray:
    """The elements of a JAX array as cells."""
    cells = np.empty(array.size, object)
    flat = array.reshape(-1)
    for i in range(array.size):
        value = lax.index_in_dim(flat, i, keepdims=False)
        cells[i] = Cell(trace, value, np.dtype(array.dtype))
    return cells.reshape(array.shape)


def look_up(table: np.ndarray, dtype: np.dtype, index: Cell) -> np.ndarray:
    """``table[index]``: cells. What lies outside the table is NaN, so that it is not missed.

    Args:
        table: of cells or constants; the index runs along the first axis.
        dtype: of the table.
        index: a whole number; a negative one counts from the end.
    """
    trace, length = index.trace, len(table)
    rows = table.reshape(length, -1)
    contents = tuple(map(identity, rows.reshape(-1).astype(object)))

    def compute() -> tuple[Cell, ...]:
        at = index.value
        at = jnp.where(at < 0, at + length, at)
        at = jnp.where(at < 0, length, at)
        missing = np.nan if dtype.kind in "fc" else None
        found = jnp.take(gathered(rows, dtype), at, axis=0, mode="fill", fill_value=missing)
        cells = scattered(trace, found)
        if rows.shape[1] == 1 and rows.dtype != object and index.root and dtype.kind in "iu":
            bounds = (rows.min().item(), rows.max().item())
            cells[0] = Cell(trace, cells[0].value, dtype, bounds)
        return tuple(cells)

    found = trace.once(("look_up", dtype, index, table.shape, contents), compute)
    cells = np.empty(len(found), object)
    cells[:] = found
    return cells.reshape(table.shape[1:])
