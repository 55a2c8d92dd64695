"""What may a submitted step be made of?

Of the operations in `OPERATIONS`: arithmetic, indexing, sorting, small linear algebra and
bounded loops, each evaluated by a public function of `jax.lax`. None of them calls back
into Python, reads a file, draws a random number or loops until something happens.

An operation's parameters are plain data (numbers, names and tuples of them). A `Parameter`
says how one is read from a jaxpr, what it may be and how `jax.lax` wants it.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import jax
from jax import lax
from jax.extend.core import primitives

#: Numbers, names, None and tuples of them, so that it can be hashed and written as JSON.
Plain = Any

#: What a program may compute with. Keys, complex and 16-bit numbers are not among them.
DTYPES: Final = frozenset(
    {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
    | {"float32", "float64"}
)

_MAX_INTEGER: Final = 2**31 - 1
_MAX_POWER: Final = 1024
_MAX_PARTS: Final = 1000


# --- Parameters -------------------------------------------------------------------------


def _same(value: Any) -> Any:
    return value


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One kind of parameter.

    Attributes:
        plain: makes plain data of what a jaxpr holds.
        allows: whether this plain data is such a parameter.
        native: makes what `jax.lax` takes of plain data.
    """

    plain: Callable[[Any], Plain]
    allows: Callable[[Plain], bool]
    native: Callable[[Plain], Any] = _same


def is_integer(value: object) -> bool:
    """Whether it is an int of moderate size; a bool is none."""
    return type(value) is int and abs(value) <= _MAX_INTEGER


def _is_integers(value: object) -> bool:
    return type(value) is tuple and all(map(is_integer, value))


def _integers(values: Sequence[int]) -> Plain:
    return tuple(map(int, values))


def _or_none(parameter: Parameter) -> Parameter:
    return Parameter(
        lambda value: None if value is None else parameter.plain(value),
        lambda value: value is None or parameter.allows(value),
        lambda value: None if value is None else parameter.native(value),
    )


def _member(enumeration: Any) -> Parameter:
    """One member of an enumeration, by its name."""
    names = frozenset(enumeration.__members__)
    return Parameter(
        lambda value: value.name,
        lambda value: type(value) is str and value in names,
        lambda value: enumeration[value],
    )


def _several_integers(count: int, make: Callable[..., Any], fields: Sequence[str]) -> Parameter:
    """An object of `count` tuples of integers."""
    return Parameter(
        lambda value: tuple(_integers(getattr(value, field)) for field in fields),
        lambda value: (
            type(value) is tuple and len(value) == count and all(map(_is_integers, value))
        ),
        lambda value: make(**dict(zip(fields, value, strict=True))),
    )


def _is_dimension_numbers(value: object) -> bool:
    """Whether it is ((contracted left, right), (batched left, right))."""
    return (
        type(value) is tuple
        and len(value) == 2
        and all(type(pair) is tuple and len(pair) == 2 for pair in value)
        and all(_is_integers(axes) for pair in value for axes in pair)
    )


def _is_fill(value: object) -> bool:
    return is_integer(value) or (type(value) is float and math.isfinite(value))


def _plain_fill(value: Any) -> Plain:
    """NaN is what JAX fills with if it is told nothing, and is not JSON."""
    if value is None or math.isnan(value):
        return None
    return float(value) if isinstance(value, float) else int(value)


def _plain_precision(value: Any) -> Plain:
    """Precision is one for both operands or one for each; here always one for each."""
    first, second = value if isinstance(value, tuple) else (value, value)
    return (first.name, second.name)


INTEGER = Parameter(int, is_integer)
COUNT = Parameter(int, lambda value: is_integer(value) and value >= 0)
INTEGERS = Parameter(_integers, _is_integers)
FLAG = Parameter(bool, lambda value: type(value) is bool)
DTYPE = Parameter(str, lambda value: type(value) is str and value in DTYPES)
POWER = Parameter(int, lambda value: is_integer(value) and abs(value) <= _MAX_POWER)
PADDING = Parameter(
    lambda value: tuple(map(_integers, value)),
    lambda value: (
        type(value) is tuple and all(_is_integers(axis) and len(axis) == 3 for axis in value)
    ),
)
DIMENSION_NUMBERS = Parameter(
    lambda value: tuple(tuple(map(_integers, pair)) for pair in value), _is_dimension_numbers
)
PRECISION = Parameter(
    _plain_precision,
    lambda value: (
        type(value) is tuple
        and len(value) == 2
        and all(type(name) is str and name in lax.Precision.__members__ for name in value)
    ),
    lambda value: tuple(lax.Precision[name] for name in value),
)
GATHERED = _several_integers(
    5,
    lax.GatherDimensionNumbers,
    (
        "offset_dims",
        "collapsed_slice_dims",
        "start_index_map",
        "operand_batching_dims",
        "start_indices_batching_dims",
    ),
)
SCATTERED = _several_integers(
    5,
    lax.ScatterDimensionNumbers,
    (
        "update_window_dims",
        "inserted_window_dims",
        "scatter_dims_to_operand_dims",
        "operand_batching_dims",
        "scatter_indices_batching_dims",
    ),
)
OUT_OF_BOUNDS = _or_none(_member(lax.GatherScatterMode))
ROUNDING = _member(lax.RoundingMethod)
FILL = Parameter(_plain_fill, lambda value: value is None or _is_fill(value))


# --- Operations -------------------------------------------------------------------------

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Operation:
    """One operation that is allowed.

    Attributes:
        evaluate: the operands and, by name, the parameters -> an array or a sequence of arrays.
        arity: how many operands; None for any number but 0.
        parameters: by their name in a jaxpr. A jaxpr may hold others, if they are None or False.
        ignored: parameters that change nothing in the values.
        work: the operands' shapes and the results' shapes -> how many numbers are touched.
    """

    evaluate: Callable[..., Any]
    arity: int | None
    parameters: Mapping[str, Parameter] = dataclasses.field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    work: Callable[[Sequence[Shape], Sequence[Shape]], int] = lambda operands, results: _total(
        results
    )


def _total(shapes: Sequence[Shape]) -> int:
    return sum(map(math.prod, shapes))


def _reads_all(operands: Sequence[Shape], results: Sequence[Shape]) -> int:
    """A reduction touches what it reads."""
    return _total(operands) + _total(results)


def _sorts(operands: Sequence[Shape], results: Sequence[Shape]) -> int:
    return sum(math.prod(shape) * (1 + math.prod(shape).bit_length()) for shape in results)


def _multiplies(operands: Sequence[Shape], results: Sequence[Shape]) -> int:
    """At most: an output element takes as many products as an operand has elements per row."""
    left, right = map(math.prod, operands)
    result = _total(results)
    # left = batch m k, right = batch k n, result = batch m n: batch m n k is at most this.
    return result + math.isqrt(left * right * max(result, 1))


def _factorises(operands: Sequence[Shape], results: Sequence[Shape]) -> int:
    """A matrix of side n takes about n operations for each element."""
    return sum(math.prod(shape) * max(shape, default=1) for shape in (*operands, *results))


def _iterates(operands: Sequence[Shape], results: Sequence[Shape]) -> int:
    """A series or a continued fraction, cut off after some thousand terms at most."""
    return 1000 * _total(results)


def _dynamic_slice(operand, *starts, slice_sizes):
    # Where an index is negative is settled by the equations before this one.
    return lax.dynamic_slice(operand, starts, slice_sizes, allow_negative_indices=False)


def _dynamic_update_slice(operand, update, *starts):
    return lax.dynamic_update_slice(operand, update, starts, allow_negative_indices=False)


def _concatenate(*operands, dimension):
    return lax.concatenate(operands, dimension)


def _sort(*operands, dimension, is_stable, num_keys):
    return lax.sort(operands, dimension=dimension, is_stable=is_stable, num_keys=num_keys)


def _argument(function: Callable) -> Callable:
    def evaluate(operand, *, axes, index_dtype):
        (axis,) = axes
        return function(operand, axis, index_dtype)

    return evaluate


def _slice(operand, *, start_indices, limit_indices, strides):
    return lax.slice(operand, start_indices, limit_indices, strides)


def _iota(*, dtype, shape, dimension):
    return lax.broadcasted_iota(dtype, shape, dimension)


def _tile(operand, *, reps):
    shape = operand.shape
    repeated = tuple(size for pair in zip(reps, shape, strict=True) for size in pair)
    own = tuple(range(1, 2 * len(shape), 2))
    new = tuple(count * size for count, size in zip(reps, shape, strict=True))
    return lax.reshape(lax.broadcast_in_dim(operand, repeated, own), new)


def _stack(*operands, axis):
    return lax.concatenate([lax.expand_dims(operand, [axis]) for operand in operands], axis)


def _unstack(operand, *, axis):
    if operand.shape[axis] > _MAX_PARTS:
        raise ValueError(f"unstack makes at most {_MAX_PARTS} arrays")
    return [
        lax.index_in_dim(operand, index, axis, keepdims=False)
        for index in range(operand.shape[axis])
    ]


def _cholesky(operand):
    return lax.linalg.cholesky(operand, symmetrize_input=False)


def _eigh(operand, *, lower, sort_eigenvalues):
    return lax.linalg.eigh(
        operand, lower=lower, sort_eigenvalues=sort_eigenvalues, symmetrize_input=False
    )


def _each(names: str, evaluate: Mapping[str, Callable], **rest: Any) -> dict[str, Operation]:
    """The same kind of operation under each of the names."""
    return {name: Operation(evaluate[name], **rest) for name in names.split()}


def _from_lax(names: str, **rest: Any) -> dict[str, Operation]:
    """Operations that `jax.lax` has under the name and with the parameters of the jaxpr."""
    return {name: Operation(getattr(lax, name), **rest) for name in names.split()}


_SCATTERING: Final = {
    "dimension_numbers": SCATTERED,
    "indices_are_sorted": FLAG,
    "unique_indices": FLAG,
    "mode": OUT_OF_BOUNDS,
}
# How two numbers are combined where they meet is told by the operation's name.
_COMBINATION: Final = frozenset({"update_jaxpr", "update_consts"})

OPERATIONS: Final[Mapping[str, Operation]] = {
    # One number to one number.
    **_from_lax(
        "abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil clz cos cosh "
        "digamma erf erf_inv erfc exp exp2 expm1 floor is_finite lgamma log log1p logistic neg "
        "population_count rsqrt sign sin sinh sqrt square stop_gradient tan tanh",
        arity=1,
    ),
    "not": Operation(lax.bitwise_not, 1),
    "round": Operation(lax.round, 1, {"rounding_method": ROUNDING}),
    "integer_pow": Operation(lax.integer_pow, 1, {"y": POWER}),
    "reduce_precision": Operation(
        lax.reduce_precision, 1, {"exponent_bits": INTEGER, "mantissa_bits": INTEGER}
    ),
    "convert_element_type": Operation(
        lax.convert_element_type, 1, {"new_dtype": DTYPE}, frozenset({"weak_type"})
    ),
    "bitcast_convert_type": Operation(lax.bitcast_convert_type, 1, {"new_dtype": DTYPE}),
    # Two numbers, or more, to one.
    **_from_lax(
        "add atan2 div eq ge gt le lt max min mul ne nextafter pow rem shift_left "
        "shift_right_arithmetic shift_right_logical sub",
        arity=2,
    ),
    **_from_lax("igamma igammac polygamma zeta", arity=2, work=_iterates),
    "add_any": Operation(lax.add, 2),
    "and": Operation(lax.bitwise_and, 2),
    "or": Operation(lax.bitwise_or, 2),
    "xor": Operation(lax.bitwise_xor, 2),
    # The total order of floats, in which a NaN has its place, has no public function.
    "eq_to": Operation(primitives.eq_to_p.bind, 2),
    "le_to": Operation(primitives.le_to_p.bind, 2),
    "lt_to": Operation(primitives.lt_to_p.bind, 2),
    "regularized_incomplete_beta": Operation(lax.betainc, 3, work=_iterates),
    "clamp": Operation(lax.clamp, 3),
    "select_n": Operation(lax.select_n, None),
    # The shape and order of arrays.
    "iota": Operation(_iota, 0, {"dtype": DTYPE, "shape": INTEGERS, "dimension": INTEGER}),
    "reshape": Operation(lax.reshape, 1, {"new_sizes": INTEGERS}),
    "broadcast_in_dim": Operation(
        lax.broadcast_in_dim, 1, {"shape": INTEGERS, "broadcast_dimensions": INTEGERS}
    ),
    "squeeze": Operation(lax.squeeze, 1, {"dimensions": INTEGERS}),
    "transpose": Operation(lax.transpose, 1, {"permutation": INTEGERS}),
    "rev": Operation(lax.rev, 1, {"dimensions": INTEGERS}),
    "pad": Operation(lax.pad, 2, {"padding_config": PADDING}),
    "tile": Operation(_tile, 1, {"reps": INTEGERS}),
    "concatenate": Operation(_concatenate, None, {"dimension": INTEGER}),
    "stack": Operation(_stack, None, {"axis": COUNT}),
    "unstack": Operation(_unstack, 1, {"axis": COUNT}),
    "split": Operation(lax.split, 1, {"sizes": INTEGERS, "axis": INTEGER}),
    "sort": Operation(
        _sort, None, {"dimension": INTEGER, "is_stable": FLAG, "num_keys": INTEGER}, work=_sorts
    ),
    # Parts of arrays.
    "slice": Operation(
        _slice,
        1,
        {"start_indices": INTEGERS, "limit_indices": INTEGERS, "strides": _or_none(INTEGERS)},
    ),
    "dynamic_slice": Operation(_dynamic_slice, None, {"slice_sizes": INTEGERS}),
    "dynamic_update_slice": Operation(_dynamic_update_slice, None),
    "gather": Operation(
        lax.gather,
        2,
        {
            "dimension_numbers": GATHERED,
            "slice_sizes": INTEGERS,
            "unique_indices": FLAG,
            "indices_are_sorted": FLAG,
            "mode": OUT_OF_BOUNDS,
            "fill_value": FILL,
        },
    ),
    "scatter": Operation(lax.scatter, 3, _SCATTERING, _COMBINATION, _reads_all),
    "scatter-add": Operation(lax.scatter_add, 3, _SCATTERING, _COMBINATION, _reads_all),
    "scatter-sub": Operation(lax.scatter_sub, 3, _SCATTERING, _COMBINATION, _reads_all),
    "scatter-mul": Operation(lax.scatter_mul, 3, _SCATTERING, _COMBINATION, _reads_all),
    "scatter-min": Operation(lax.scatter_min, 3, _SCATTERING, _COMBINATION, _reads_all),
    "scatter-max": Operation(lax.scatter_max, 3, _SCATTERING, _COMBINATION, _reads_all),
    # Many numbers to fewer.
    **_from_lax(
        "reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or reduce_xor",
        arity=1,
        parameters={"axes": INTEGERS},
        work=_reads_all,
    ),
    **_each(
        "argmax argmin",
        {"argmax": _argument(lax.argmax), "argmin": _argument(lax.argmin)},
        arity=1,
        parameters={"axes": INTEGERS, "index_dtype": DTYPE},
        work=_reads_all,
    ),
    **_from_lax(
        "cumsum cumprod cummax cummin cumlogsumexp",
        arity=1,
        parameters={"axis": INTEGER, "reverse": FLAG},
        work=_sorts,
    ),
    # Linear algebra.
    "dot_general": Operation(
        lax.dot_general,
        2,
        {
            "dimension_numbers": DIMENSION_NUMBERS,
            "precision": _or_none(PRECISION),
            "preferred_element_type": _or_none(DTYPE),
        },
        work=_multiplies,
    ),
    "cholesky": Operation(_cholesky, 1, work=_factorises),
    "triangular_solve": Operation(
        lax.linalg.triangular_solve,
        2,
        dict.fromkeys(("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal"), FLAG),
        work=_factorises,
    ),
    "lu": Operation(lax.linalg.lu, 1, work=_factorises),
    "lu_pivots_to_permutation": Operation(
        lax.linalg.lu_pivots_to_permutation, 1, {"permutation_size": INTEGER}
    ),
    "qr": Operation(
        lax.linalg.qr, 1, {"pivoting": FLAG, "full_matrices": FLAG}, work=_factorises
    ),
    "eigh": Operation(
        _eigh, 1, {"lower": FLAG, "sort_eigenvalues": FLAG}, work=_factorises
    ),
}  # fmt: skip


# --- Operations that hold programs --------------------------------------------------------

Run = Callable[..., tuple[jax.Array, ...]]


@dataclasses.dataclass(frozen=True)
class Nesting:
    """One operation that holds programs of its own.

    Attributes:
        evaluate: the programs, as functions of arrays, the operands and, by name, the
            parameters -> a sequence of arrays.
        parameters: see `Operation`.
        deep: whether its programs may hold programs.
    """

    evaluate: Callable[..., Sequence[jax.Array]]
    parameters: Mapping[str, Parameter]
    deep: bool = True


def _scan(blocks: Sequence[Run], *operands, carries, scanned, length, reverse):
    """Operands are those carried, those scanned and those that stay; so are the body's inputs."""
    (body,) = blocks
    carry, rest = operands[:carries], operands[carries:]
    rows, constants = rest[:scanned], rest[scanned:]

    def one(carry, row):
        results = body(*carry, *row, *constants)
        return results[:carries], results[carries:]

    carry, rows = lax.scan(one, carry, rows, length=length, reverse=reverse)
    return (*carry, *rows)


def _cond(blocks: Sequence[Run], index, *operands):
    return lax.switch(index, blocks, *operands)


def _linear_solve(blocks: Sequence[Run], *operands, unknowns):
    """Operands are the right-hand side, then what all of the programs take besides a vector.

    The programs multiply by the matrix, solve and, if there is a third, solve transposed. The
    result is that of the second, and the others serve its derivative.
    """
    right, rest = operands[:unknowns], operands[unknowns:]
    multiply, solve, *transposed = (functools.partial(_apply, block, rest) for block in blocks)
    return lax.custom_linear_solve(
        multiply,
        right,
        functools.partial(_ignore_first, solve),
        functools.partial(_ignore_first, transposed[0]) if transposed else None,
    )


def _apply(block: Run, rest: Sequence[jax.Array], vector: Sequence[jax.Array]):
    return block(*vector, *rest)


def _ignore_first(solver: Callable, multiply: Callable, vector: Sequence[jax.Array]):
    return solver(vector)


NESTINGS: Final[Mapping[str, Nesting]] = {
    "scan": Nesting(
        _scan, {"carries": COUNT, "scanned": COUNT, "length": COUNT, "reverse": FLAG}
    ),
    "cond": Nesting(_cond, {}),
    # JAX looks at the programs of this one more than once: nested, that would never end.
    "custom_linear_solve": Nesting(_linear_solve, {"unknowns": COUNT}, deep=False),
}  # fmt: skip
