"""How is a function of small arrays computed one number at a time?

A model is written with vectors of five numbers: it stacks them, slices them, multiplies
them with matrices. For an ensemble, XLA then makes an array of all variables and all
members after each of these, where the arithmetic alone would stay in registers. So a step
is taken apart into its numbers, its *cells*: what is arithmetic is done cell by cell, and
what only moves numbers about is done here, once, when the step is compiled.

Operations that are neither (a gather, a loop) get their arrays put together, and are what
they were.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core
from jaxtyping import Array

from enso_jax.jaxprs import computed, read

#: An array of scalars: a NumPy array of objects, each a number that JAX computes.
Cells = np.ndarray

#: Larger arrays (a network's weights) are left whole: what they would cost to compile is
#: more than they would gain.
MOST_CELLS: Final = 64

_ARITHMETIC: Final = """
    abs acos acosh add and asin asinh atan atan2 atanh cbrt ceil clamp convert_element_type
    copy cos cosh div eq erf erf_inv erfc exp exp2 expm1 floor ge gt integer_pow is_finite le
    log log1p logistic lt max min mul ne neg nextafter not or pow rem round rsqrt select_n
    sign sin sinh sqrt square stop_gradient sub tan tanh xor
"""
_ELEMENTWISE: Final = frozenset(_ARITHMETIC.split())
_CALLS: Final = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr"}
_REDUCTIONS: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "reduce_sum": lax.add,
    "reduce_prod": lax.mul,
    "reduce_max": lax.max,
    "reduce_min": lax.min,
}


def by_cells(
    function: Callable[..., Array], dtype: str, *arguments: Array | Sequence[Array]
) -> list[Array]:
    """The numbers of ``function(*arguments)``, an array or a vector, each computed for itself.

    Args:
        function: of scalars and vectors.
        dtype: of all of them.
        arguments: a scalar, or the numbers of a vector.
    """
    cells = [_cells_of_numbers(argument) for argument in arguments]
    examples = [jax.ShapeDtypeStruct(array.shape, dtype) for array in cells]
    closed = jax.make_jaxpr(function)(*examples)
    (result,) = _evaluate(closed.jaxpr, closed.consts, cells)
    return list(result.flat)


def _cells_of_numbers(argument: Array | Sequence[Array]) -> Cells:
    if isinstance(argument, Sequence):
        return _filled((len(argument),), argument)
    return _filled((), [argument])


def _filled(shape: tuple[int, ...], numbers: Iterable[Array]) -> Cells:
    # One by one: NumPy would make an array of its own of each.
    cells = np.empty(shape, object)
    for place, number in zip(np.ndindex(*shape), numbers, strict=True):
        cells[place] = number
    return cells


# --- Evaluation: a value is either cells or an array that was left whole ------------------


def _evaluate(
    jaxpr: core.Jaxpr, constants: Sequence[Array], arguments: Sequence[Cells | Array]
) -> list[Any]:
    """What `jaxpr` gives, its outputs as cells."""
    values: dict[Any, Cells | Array] = dict(
        zip(jaxpr.constvars, map(jnp.asarray, constants), strict=True)
    )
    values.update(zip(jaxpr.invars, arguments, strict=True))

    for equation in jaxpr.eqns:
        results = _apply(equation, jaxpr, [read(atom, values) for atom in equation.invars])
        values.update(zip(equation.outvars, results, strict=True))
    return [_cells(read(atom, values)) for atom in jaxpr.outvars]


def _apply(
    equation: core.JaxprEqn, jaxpr: core.Jaxpr, inputs: list[Cells | Array]
) -> Sequence[Cells | Array]:
    name = equation.primitive.name
    if name in _CALLS:
        inner = equation.params[_CALLS[name]]
        return _evaluate(inner.jaxpr, inner.consts, inputs)
    atoms = [*equation.invars, *equation.outvars]
    small = all(0 < math.prod(_shape(atom)) <= MOST_CELLS for atom in atoms)
    if small and name in _ELEMENTWISE:
        return [_elementwise(equation, [_cells(value) for value in inputs])]
    if small and name in _REARRANGEMENTS:
        cells = [_cells(value) for value in inputs]
        return _REARRANGEMENTS[name](equation, cells)
    if small and name in _REDUCTIONS:
        return [_reduced(equation, _cells(inputs[0]))]
    if small and name == "dot_general" and not any(equation.params["dimension_numbers"][1]):
        return [_product(equation, *map(_cells, inputs))]
    return computed(equation, jaxpr, [_array(value) for value in inputs])


def _shape(atom: Any) -> tuple[int, ...]:
    return getattr(atom.aval, "shape", ())


def _cells(value: Cells | Array) -> Cells:
    """An array's numbers; cells are what they are."""
    if isinstance(value, np.ndarray):
        return value
    flat = value.reshape(-1)
    numbers = (lax.index_in_dim(flat, number, keepdims=False) for number in range(flat.size))
    return _filled(value.shape, numbers)


def _array(value: Cells | Array) -> Array:
    """Cells put together; an array is what it is."""
    if isinstance(value, np.ndarray):
        return jnp.stack(list(value.flat)).reshape(value.shape)
    return value


def _elementwise(equation: core.JaxprEqn, inputs: list[Cells]) -> Cells:
    """The operation on each cell; a scalar operand meets them all."""
    shape = _shape(equation.outvars[0])
    operands = [np.broadcast_to(cells, shape).flat for cells in inputs]
    numbers = (
        equation.primitive.bind(*row, **equation.params) for row in zip(*operands, strict=True)
    )
    return _filled(shape, numbers)


def _reduced(equation: core.JaxprEqn, cells: Cells) -> Cells:
    axes, combine = equation.params["axes"], _REDUCTIONS[equation.primitive.name]
    rows = np.moveaxis(cells, axes, range(len(axes)))
    rows = rows.reshape(-1, *rows.shape[len(axes) :])
    shape = rows.shape[1:]
    numbers = (_folded(combine, [row[place] for row in rows]) for place in np.ndindex(*shape))
    return _filled(shape, numbers)


def _product(equation: core.JaxprEqn, left: Cells, right: Cells) -> Cells:
    """A matrix product: the sum over the contracted axes, one product after another."""
    (over_left, over_right), _ = equation.params["dimension_numbers"]
    left = np.moveaxis(left, over_left, range(-len(over_left), 0))
    right = np.moveaxis(right, over_right, range(len(over_right)))
    shape = left.shape[: left.ndim - len(over_left)] + right.shape[len(over_right) :]
    terms = math.prod(left.shape[left.ndim - len(over_left) :])
    rows, columns = left.reshape(-1, terms), right.reshape(terms, -1)
    sums = (
        _folded(lax.add, list(map(lax.mul, row, column))) for row in rows for column in columns.T
    )
    return _filled(shape, sums)


def _folded(combine: Callable[[Array, Array], Array], numbers: list[Array]) -> Array:
    *_, total = itertools.accumulate(numbers, combine)
    return total


# --- What only moves numbers about --------------------------------------------------------


def _broadcast(equation: core.JaxprEqn, cells: list[Cells]) -> list[Cells]:
    shape, kept = equation.params["shape"], equation.params["broadcast_dimensions"]
    spread = [cells[0].shape[kept.index(axis)] if axis in kept else 1 for axis in range(len(shape))]
    return [np.broadcast_to(cells[0].reshape(spread), shape)]


def _reshaped(equation: core.JaxprEqn, cells: list[Cells]) -> list[Cells]:
    return [cells[0].reshape(_shape(equation.outvars[0]))]


def _transposed(equation: core.JaxprEqn, cells: list[Cells]) -> list[Cells]:
    return [cells[0].transpose(equation.params["permutation"])]


def _sliced(equation: core.JaxprEqn, cells: list[Cells]) -> list[Cells]:
    starts, limits = equation.params["start_indices"], equation.params["limit_indices"]
    strides = equation.params["strides"] or (1,) * len(starts)
    return [cells[0][tuple(map(slice, starts, limits, strides))]]


def _concatenated(equation: core.JaxprEqn, cells: list[Cells]) -> list[Cells]:
    return [np.concatenate(cells, axis=equation.params["dimension"])]


def _stacked(equation: core.JaxprEqn, cells: list[Cells]) -> list[Cells]:
    return [np.stack(cells, axis=equation.params["axis"])]


def _reversed(equation: core.JaxprEqn, cells: list[Cells]) -> list[Cells]:
    return [np.flip(cells[0], equation.params["dimensions"])]


def _split(equation: core.JaxprEqn, cells: list[Cells]) -> list[Cells]:
    ends = np.cumsum(equation.params["sizes"])[:-1]
    return np.split(cells[0], ends, axis=equation.params["axis"])


_REARRANGEMENTS: Final = {
    "broadcast_in_dim": _broadcast,
    "concatenate": _concatenated,
    "expand_dims": _reshaped,
    "reshape": _reshaped,
    "rev": _reversed,
    "slice": _sliced,
    "split": _split,
    "squeeze": _reshaped,
    "stack": _stacked,
    "transpose": _transposed,
}
