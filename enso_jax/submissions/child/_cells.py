"""What is one traced number, and how are numbers computed from it?

A step is traced for one member, so its arrays have a handful of elements. Each is a number of
its own here, a `Cell`: what NumPy does to an array is done to an array of cells, and JAX is
asked only for arithmetic of scalars. Views, slices and in-place writes then cost nothing and
need no counterpart in JAX; `jax.vmap` turns the scalars into rows of members, which XLA fuses.

A number that is not traced is a constant: a plain Python number.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from enso_jax.submissions.child._errors import Untraceable
from enso_jax.submissions.child._operations import jax_function, power

#: Of more values than a year has days, no table is looked up and no branch is made.
MOST_VALUES = 366

#: What one step may compute; more takes XLA minutes to compile.
MOST_OPERATIONS = 40_000

#: Monotone in a single argument when the others are constants, so bounds map to bounds.
_MONOTONE = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "floor_divide",
        "negative",
        "positive",
        "floor",
        "ceil",
        "rint",
        "trunc",
        "minimum",
        "maximum",
        "fmin",
        "fmax",
        "sqrt",
        "square",
    ]
)
#: Rising in all arguments together.
_RISING = frozenset(["add", "minimum", "maximum", "fmin", "fmax"])

Interval = tuple[float, float]


class Trace:
    """One tracing of a step: what was computed so far, and the path being taken through the code.

    What is computed twice is computed once: a second month number is the first one, so that a
    branch taken on it is known wherever it comes up again.

    Attributes:
        possible: for a number with few possible values, the positions in its table of those
            that the branches taken so far leave open.
        ask: chooses one of several groups of positions, when code branches on such a number.
    """

    def __init__(self) -> None:
        self.possible: dict[Cell, np.ndarray] = {}
        self.ask: Callable[[Cell, list[np.ndarray]], int] | None = None
        self._computed: dict[tuple, tuple[Cell, ...]] = {}

    def once(self, key: tuple, compute: Callable[[], tuple["Cell", ...]]) -> tuple["Cell", ...]:
        """What `compute` gives, computed the first time only."""
        known = self._computed.get(key)
        if known is None:
            if len(self._computed) >= MOST_OPERATIONS:
                raise Untraceable(f"one step computes more than {MOST_OPERATIONS} numbers")
            known = self._computed[key] = compute()
        return known


class Cell:
    """A traced number.

    Attributes:
        value: a JAX scalar of type `dtype`.
        interval: bounds of the value, where they are known.
        root, table: a number of few possible values is a table over those of its root, which
            is a Boolean or a whole number of known range: ``value == table[position of root]``.
    """

    __slots__ = ("dtype", "interval", "root", "table", "trace", "value")

    def __init__(
        self,
        trace: Trace,
        value: jax.Array,
        dtype: np.dtype,
        interval: Interval | None = None,
        origin: "tuple[Cell, np.ndarray] | None" = None,
    ):
        self.trace = trace
        self.value = value
        self.dtype = dtype
        self.interval = interval
        self.root: Cell | None = None
        self.table = np.empty(0)
        if origin is not None:
            self.root, self.table = origin
        elif dtype == np.bool_:
            self.root, self.table = self, np.array([False, True])
        elif dtype.kind in "iu" and interval is not None and _is_small(interval):
            low, high = (math.floor(end) for end in interval)
            self.root, self.table = self, np.arange(low, high + 1)

    # What NumPy's loops over objects (dot, einsum, cumsum, ...) ask of an element.
    def __add__(self, other):
        return arithmetic(np.add, self, other)

    def __radd__(self, other):
        return arithmetic(np.add, other, self)

    def __sub__(self, other):
        return arithmetic(np.subtract, self, other)

    def __rsub__(self, other):
        return arithmetic(np.subtract, other, self)

    def __mul__(self, other):
        return arithmetic(np.multiply, self, other)

    def __rmul__(self, other):
        return arithmetic(np.multiply, other, self)

    def __truediv__(self, other):
        return arithmetic(np.divide, self, other)

    def __rtruediv__(self, other):
        return arithmetic(np.divide, other, self)

    def __neg__(self):
        return arithmetic(np.negative, self)

    def conjugate(self):
        return arithmetic(np.conjugate, self)


def _is_small(interval: Interval) -> bool:
    low, high = interval
    return math.isfinite(high - low) and high - low < MOST_VALUES


def remaining(cell: Cell) -> np.ndarray:
    """The positions in the table of a cell that the path taken leaves open."""
    return cell.trace.possible.get(cell.root or cell, np.arange(len(cell.table)))


def settled(number: Any) -> Any:
    """A cell that the path taken leaves only one value is that constant."""
    if isinstance(number, Cell) and number.root is not None:
        values = number.table[remaining(number)]
        if len(values) and (values == values[0]).all():
            return values[0].item()
    return number


def arithmetic(ufunc: np.ufunc, *arguments: Any) -> Any:
    """A ufunc of cells and constants, where constants take the type of the cells they meet."""
    kinds = [a.dtype if isinstance(a, Cell) else _python_type(a) for a in arguments]
    return operate(ufunc, arguments, _loop(ufunc, tuple(kinds)))[0]


def _python_type(constant: Any) -> Any:
    return np.dtype(bool) if isinstance(constant, bool) else type(constant)


@functools.lru_cache(maxsize=4096)
def _loop(ufunc: np.ufunc, kinds: tuple) -> tuple[np.dtype, ...]:
    return ufunc.resolve_dtypes(kinds + (None,) * ufunc.nout)


def operate(ufunc: np.ufunc, arguments: Sequence[Any], loop: Sequence[np.dtype]) -> tuple:
    """One element of a ufunc: its outputs, cells where an argument is one, else constants.

    Args:
        ufunc: an elementwise function.
        arguments: cells and constants.
        loop: the types in which NumPy computes it: of the arguments, then of the outputs.
    """
    takes, gives = loop[: ufunc.nin], loop[ufunc.nin :]
    arguments = [cast(a, dtype) for a, dtype in zip(arguments, takes, strict=True)]
    cells = [a for a in arguments if isinstance(a, Cell)]
    if not cells:
        return _operate_on_constants(ufunc, arguments, takes)
    trace = same_trace(cells)

    def compute() -> tuple[Cell, ...]:
        function = power if ufunc is np.power else jax_function(ufunc)
        results = function(*(raw(a, dtype) for a, dtype in zip(arguments, takes, strict=True)))
        results = results if ufunc.nout > 1 else (results,)
        interval = _interval(ufunc, arguments) if ufunc.nout == 1 else None
        return tuple(
            Cell(trace, _as(result, dtype), dtype, interval, _origin(ufunc, arguments, dtype))
            for result, dtype in zip(results, gives, strict=True)
        )

    key = (ufunc, tuple(takes), *(identity(a) for a in arguments))
    return trace.once(key, compute)


def _operate_on_constants(ufunc: np.ufunc, arguments: Sequence, takes: Sequence) -> tuple:
    with np.errstate(all="ignore"):
        results = ufunc(*(dtype.type(a) for a, dtype in zip(arguments, takes, strict=True)))
    return tuple(r.item() for r in (results if ufunc.nout > 1 else (results,)))


def raw(number: Any, dtype: np.dtype) -> Any:
    """A number as JAX takes it."""
    return number.value if isinstance(number, Cell) else dtype.type(number)


def _as(value: Any, dtype: np.dtype) -> jax.Array:
    return lax.convert_element_type(value, dtype)


def identity(number: Any) -> Any:
    """What makes two numbers the same to `Trace.once`; 0.0 and -0.0 are two, all NaN one."""
    if isinstance(number, Cell):
        return number
    return type(number), repr(number)


def same_trace(cells: Sequence[Cell]) -> Trace:
    """The trace that all these cells belong to."""
    trace = cells[0].trace
    if any(cell.trace is not trace for cell in cells):
        raise Untraceable("a value is kept from one call of step to the next")
    return trace


def _interval(ufunc: np.ufunc, arguments: Sequence[Any]) -> Interval | None:
    """Bounds of a result, from those of the arguments."""
    bounds = [a.interval if isinstance(a, Cell) else (a, a) for a in arguments]
    traced = sum(isinstance(a, Cell) for a in arguments)
    name = ufunc.__name__
    if name in ("remainder", "fmod") and not isinstance(arguments[1], Cell):
        return _remainder_interval(name, bounds[0], arguments[1])
    known = [b for b in bounds if b is not None]
    if len(known) < len(bounds):
        # One side is bounded all the same: min(x, 11) is at most 11.
        return _half_open(name, known)
    if not (name in _RISING or (name in _MONOTONE and traced == 1)):
        return None
    with np.errstate(all="ignore"):
        ends = [float(ufunc(*end)) for end in zip(*known, strict=True)]
    if any(math.isnan(end) for end in ends) or (name == "square" and known[0][0] < 0):
        return None
    return min(ends), max(ends)


def _half_open(name: str, known: list[Interval]) -> Interval | None:
    if len(known) != 1 or name not in ("minimum", "maximum"):
        return None
    low, high = known[0]
    return (-math.inf, high) if name == "minimum" else (low, math.inf)


def _remainder_interval(name: str, bounds: Interval | None, modulus: Any) -> Interval | None:
    if not modulus > 0:
        return None
    if bounds is not None and bounds[0] >= 0 and bounds[1] < modulus:
        return bounds
    if name == "fmod" and (bounds is None or bounds[0] < 0):
        return None
    largest = modulus - 1 if isinstance(modulus, int) else math.nextafter(modulus, 0.0)
    return 0, largest


def _origin(
    ufunc: np.ufunc, arguments: Sequence[Any], dtype: np.dtype
) -> tuple[Cell, np.ndarray] | None:
    """The table of a result over the root that all arguments share, if they do."""
    roots = {a.root for a in arguments if isinstance(a, Cell)}
    root = next(iter(roots))
    if len(roots) > 1 or root is None or dtype.kind not in "biu" or ufunc.nout > 1:
        return None
    with np.errstate(all="ignore"):
        table = ufunc(*(a.table if isinstance(a, Cell) else a for a in arguments))
    return root, table.astype(dtype)


def cast(number: Any, dtype: np.dtype) -> Any:
    """A cell or constant as another type, converted as `numpy.ndarray.astype` does."""
    number = settled(number)
    if not isinstance(number, Cell):
        return dtype.type(number).item()
    if number.dtype == dtype:
        return number
    return number.trace.once(("cast", dtype, number), lambda: (_cast(number, dtype),))[0]


def _cast(cell: Cell, dtype: np.dtype) -> Cell:
    interval, origin = cell.interval, None
    if cell.dtype == np.bool_:
        interval = (0, 1)
    elif interval is not None and cell.dtype.kind == "f" and dtype.kind in "iu":
        whole = all(math.isfinite(end) for end in interval)
        interval = (math.trunc(interval[0]), math.trunc(interval[1])) if whole else None
    if cell.root is not None and dtype.kind in "biu":
        origin = (cell.root, cell.table.astype(dtype))
    if cell.dtype.kind == "c" and dtype.kind != "c":
        return Cell(cell.trace, _as(jnp.real(cell.value), dtype), dtype)
    return Cell(cell.trace, _as(cell.value, dtype), dtype, interval, origin)


def select(condition: Any, chosen: Any, other: Any, dtype: np.dtype) -> Any:
    """``chosen if condition else other``, as type `dtype`."""
    condition = settled(condition)
    chosen, other = cast(chosen, dtype), cast(other, dtype)
    if not isinstance(condition, Cell):
        return chosen if condition else other
    if identity(chosen) == identity(other):
        return chosen
    trace = same_trace([a for a in (condition, chosen, other) if isinstance(a, Cell)])

    def compute() -> tuple[Cell]:
        branches = (jnp.asarray(raw(a, dtype)) for a in (chosen, other))
        value = jnp.where(cast(condition, np.dtype(bool)).value, *branches)
        bounds = [a.interval if isinstance(a, Cell) else (a, a) for a in (chosen, other)]
        known = [b for b in bounds if b is not None]
        both = (min(k[0] for k in known), max(k[1] for k in known)) if len(known) == 2 else None
        return (Cell(trace, value, dtype, both),)

    key = ("select", dtype, condition, identity(chosen), identity(other))
    return trace.once(key, compute)[0]
