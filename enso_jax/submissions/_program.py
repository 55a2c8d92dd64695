"""How does a step leave the process that traced it, so that nobody need trust its author?

As data: the equations of its jaxpr, over the operations of `_operations`, and the numbers
in them. The child process writes a `Program` with `program_of`. The grader reads it with
`Program.from_bytes`, which believes nothing, and evaluates it with public functions of
`jax.lax`, so that it can be batched, differentiated and compiled like any other function::

    program = program_of(function, state, t, noise)      # in the child
    program = Program.from_bytes(program.to_bytes())     # in the grader
    (state,) = program(state, t, noise)

Floating numbers in the code (``0.5 * x``) are constants of the program, not structure.
Code that runs with other parameters is then the same structure with other constants.
"""

import dataclasses
import functools
import hashlib
import itertools
import json
import math
import struct
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core
from jaxtyping import Array

from enso_jax.submissions._operations import DTYPES, NESTINGS, OPERATIONS, Parameter, Plain

MAX_EQUATIONS: Final = 20_000
MAX_CONSTANT_BYTES: Final = 8 * 2**20
MAX_ELEMENTS: Final = 2**20
MAX_LENGTH: Final = 10_000
MAX_NESTING: Final = 20
MAX_WORK: Final = 10_000_000
_MAX_OPERANDS: Final = 10_000
_MAX_RANK: Final = 16
_MAX_HEADER_BYTES: Final = 4 * 2**20
# Lists in lists: those of equations in programs in equations, and of numbers in parameters.
_MAX_PARAMETER_NESTING: Final = 4

_MAGIC: Final = b"enso-jax program 1\n"
_HEADER_SIZE: Final = struct.Struct("<I")


class BadProgram(Exception):  # noqa: N818 - it is what the grader says of it
    """This is no program that the grader runs. Its text is one sentence."""


class NotAProgram(Exception):  # noqa: N818
    """A function does something that no program may.

    Attributes:
        operation: what it does.
        file, line: where its author wrote that; None where nobody knows.
    """

    def __init__(self, operation: str, file: str | None = None, line: int | None = None) -> None:
        self.operation = operation
        self.file = file
        self.line = line
        where = "" if file is None else f" ({file}, line {line})"
        super().__init__(f"A step cannot use {operation}{where}.")


# --- The data ---------------------------------------------------------------------------


class ArrayType(NamedTuple):
    """An array's shape and type, ``((5,), "float64")``."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


class Literal(NamedTuple):
    """A whole number or a truth value in the code. It is structure: it may be an index."""

    value: int
    dtype: str


#: The number of a value (first a block's inputs, then the results of its equations), or a literal.
Operand = int | Literal


@dataclasses.dataclass(frozen=True)
class Equation:
    """One operation.

    Attributes:
        operation: a name in `OPERATIONS` or `NESTINGS`.
        parameters: (name, plain data), ordered by name.
        results: the types of what it makes.
        blocks: the programs in it: a scan's body, a cond's branches.
    """

    operation: str
    operands: tuple[Operand, ...]
    parameters: tuple[tuple[str, Plain], ...]
    results: tuple[ArrayType, ...]
    blocks: tuple["Block", ...] = ()


@dataclasses.dataclass(frozen=True, repr=False)
class Block:
    """Equations from inputs to outputs: all of a program but its constants. Hashable."""

    inputs: tuple[ArrayType, ...]
    equations: tuple[Equation, ...]
    outputs: tuple[Operand, ...]

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.inputs, self.equations, self.outputs))

    def __hash__(self) -> int:
        # Static parts of a module are hashed at each call of a compiled function: once is enough.
        return self._hash

    def __repr__(self) -> str:
        # Error messages show the static parts of a module, and have no room for this one.
        return f"<{len(self.equations)} equations of {_listed(self.inputs[:3])}, ...>"

    @property
    def output_types(self) -> tuple[ArrayType, ...]:
        types = [*self.inputs]
        for equation in self.equations:
            types.extend(equation.results)
        return tuple(
            ArrayType((), output.dtype) if isinstance(output, Literal) else types[output]
            for output in self.outputs
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A pure function of arrays, as data.

    Attributes:
        inputs: the types of its arguments.
        constants: arrays, which follow the inputs in the numbering of values.
        equations, outputs: see `Block`.
    """

    inputs: tuple[ArrayType, ...]
    constants: tuple[np.ndarray, ...]
    equations: tuple[Equation, ...]
    outputs: tuple[Operand, ...]

    @functools.cached_property
    def structure(self) -> Block:
        """All but the constants, whose types are the last of its inputs."""
        constants = tuple(map(_type_of, self.constants))
        return Block(self.inputs + constants, self.equations, self.outputs)

    def __call__(self, *inputs: Array) -> tuple[Array, ...]:
        """The outputs. It can be compiled, batched and differentiated.

        Raises:
            BadProgram: if the inputs are of other shapes or types than `inputs` says.
        """
        arguments = [*map(jnp.asarray, inputs), *map(jnp.asarray, self.constants)]
        return tuple(map(jnp.asarray, evaluate(self.structure, arguments)))

    def require_signature(
        self,
        inputs: Sequence[tuple[tuple[int, ...], str]],
        outputs: Sequence[tuple[tuple[int, ...], str]],
    ) -> None:
        """Requires inputs and outputs of these shapes and types.

        Raises:
            BadProgram: if they are others.
        """
        for kind, wanted, found in (
            ("inputs", tuple(inputs), self.inputs),
            ("outputs", tuple(outputs), self.structure.output_types),
        ):
            if found != wanted:
                raise BadProgram(
                    f"The program's {kind} are {_listed(found)}, not {_listed(wanted)}."
                )

    def to_bytes(self) -> bytes:
        """A line, the header's size, the header as JSON, and the constants' bytes in order."""
        header = {
            "inputs": [_type_json(type_) for type_ in self.inputs],
            "constants": [_type_json(_type_of(constant)) for constant in self.constants],
            "equations": [_equation_json(equation) for equation in self.equations],
            "outputs": [_operand_json(output) for output in self.outputs],
        }
        text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("ascii")
        numbers = [_little_endian(constant).tobytes() for constant in self.constants]
        return b"".join([_MAGIC, _HEADER_SIZE.pack(len(text)), text, *numbers])

    @staticmethod
    def from_bytes(data: bytes) -> "Program":
        """Reads what `to_bytes` wrote, from anybody.

        Everything is checked before it is used: names, references and sizes first, then the
        shapes and types of all results by an abstract evaluation, which computes nothing.

        Raises:
            BadProgram: if anything is not as `to_bytes` writes it, or is too large.
        """
        program = _read(data)
        _check_size(program.structure)
        if program.to_bytes() != data:  # so that equal programs are equal bytes
            raise BadProgram("The program is not written in the canonical form.")
        _check_types(program.structure)
        return program

    def digest(self) -> str:
        """The SHA-256 of its bytes, as hexadecimal digits."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def _type_of(array: Any) -> ArrayType:
    return ArrayType(tuple(array.shape), array.dtype.name)


def _little_endian(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _listed(types: Sequence[tuple[tuple[int, ...], str]]) -> str:
    return ", ".join(f"{dtype}{list(shape)}" for shape, dtype in types) or "none"


# --- Evaluation -------------------------------------------------------------------------


def evaluate(block: Block, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of `block` for arrays of the types of its inputs.

    Raises:
        BadProgram: if a value is not of the type that the block says.
    """
    _require_types(operands, block.inputs, "a block's inputs")
    values = [*operands]
    for equation in block.equations:
        results = _evaluate_equation(equation, [_value(values, at) for at in equation.operands])
        _require_types(results, equation.results, f"the results of {equation.operation}")
        values.extend(results)
    return tuple(_value(values, at) for at in block.outputs)


def _evaluate_equation(equation: Equation, operands: Sequence[Any]) -> Sequence[Any]:
    kinds = _parameter_kinds(equation.operation)
    parameters = {name: kinds[name].native(plain) for name, plain in equation.parameters}
    if equation.operation in NESTINGS:
        runs = [functools.partial(_evaluate_arguments, block) for block in equation.blocks]
        return NESTINGS[equation.operation].evaluate(runs, *operands, **parameters)
    results = OPERATIONS[equation.operation].evaluate(*operands, **parameters)
    return results if isinstance(results, tuple | list) else (results,)


def _evaluate_arguments(block: Block, *operands: Any) -> tuple[Any, ...]:
    return evaluate(block, operands)


def _parameter_kinds(operation: str) -> Mapping[str, Parameter]:
    return (NESTINGS if operation in NESTINGS else OPERATIONS)[operation].parameters


def _value(values: Sequence[Any], at: Operand) -> Any:
    return np.asarray(at.value, at.dtype) if isinstance(at, Literal) else values[at]


def _require_types(arrays: Sequence[Any], types: tuple[ArrayType, ...], what: str) -> None:
    found = tuple(map(_type_of, arrays))
    if found != types:
        raise BadProgram(f"The types of {what} are {_listed(found)}, not {_listed(types)}.")


# --- Checks -----------------------------------------------------------------------------


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise BadProgram(otherwise)


class _Size:
    """What the equations counted so far amount to."""

    def __init__(self) -> None:
        self.equations = 0
        self.work = 0

    def add(self, equations: int, work: int) -> None:
        self.equations += equations
        self.work += work
        _require(
            self.equations <= MAX_EQUATIONS,
            f"A program has at most {MAX_EQUATIONS:,} equations, with those of its loops' bodies.",
        )
        _require(
            self.work <= MAX_WORK,
            f"A program touches at most {MAX_WORK:,} numbers, its loops' turns multiplied out.",
        )


def _check_size(structure: Block) -> None:
    """Requires that all names, references and sizes are allowed; evaluates nothing.

    Raises:
        BadProgram: if one is not.
    """
    _check_block(structure, _Size(), turns=1, nesting=0)


def _check_block(block: Block, size: _Size, turns: int, nesting: int) -> None:
    _require(nesting <= MAX_NESTING, f"A program's loops nest at most {MAX_NESTING} deep.")
    size.add(1, turns)  # so that a loop over nothing is counted too
    types = [*block.inputs]
    for type_ in types:
        _check_type(type_)
    for equation in block.equations:
        _check_equation(equation, types, size, turns, nesting)
        types.extend(equation.results)
    for output in block.outputs:
        _check_operand(output, len(types))


def _check_equation(
    equation: Equation, types: Sequence[ArrayType], size: _Size, turns: int, nesting: int
) -> None:
    name = equation.operation
    _require(name in OPERATIONS or name in NESTINGS, "The program has an operation of no name.")
    _require(
        max(len(equation.operands), len(equation.results)) <= _MAX_OPERANDS,
        f"{name} has more than {_MAX_OPERANDS:,} operands or results.",
    )
    for at in equation.operands:
        _check_operand(at, len(types))
    for type_ in equation.results:
        _check_type(type_)
    kinds = _parameter_kinds(name)
    _require(
        [key for key, _ in equation.parameters] == sorted(kinds),
        f"The parameters of {name} are {', '.join(sorted(kinds)) or 'none'}.",
    )
    for key, plain in equation.parameters:
        _require(kinds[key].allows(plain), f"{name} has a {key} that it cannot have.")
    operands = [() if isinstance(at, Literal) else types[at].shape for at in equation.operands]
    results = [type_.shape for type_ in equation.results]
    if name in NESTINGS:
        length = dict(equation.parameters).get("length", 1)
        _require(length <= MAX_LENGTH, f"A loop takes at most {MAX_LENGTH:,} turns.")
        size.add(1, turns * sum(map(math.prod, results)))
        for block in equation.blocks:
            _require(
                NESTINGS[name].deep or not any(inner.blocks for inner in block.equations),
                f"{name} holds no programs that hold programs.",
            )
            _check_block(block, size, turns * max(length, 1), nesting + 1)
        return
    operation = OPERATIONS[name]
    arity = len(operands) if operation.arity is None else operation.arity
    _require(
        len(operands) == arity and (operands != [] or operation.arity == 0),
        f"{name} does not take {len(operands)} operands.",
    )
    _require(not equation.blocks, f"{name} holds no programs.")
    size.add(1, turns * max(operation.work(operands, results), 1))


def _check_type(type_: ArrayType) -> None:
    _require(type_.dtype in DTYPES, "A program has arrays of a type that is not allowed.")
    _require(
        len(type_.shape) <= _MAX_RANK
        and all(0 <= size <= MAX_ELEMENTS for size in type_.shape)
        and type_.elements <= MAX_ELEMENTS,
        f"An array in a program has at most {MAX_ELEMENTS:,} elements and {_MAX_RANK} axes.",
    )


def _check_operand(at: Operand, defined: int) -> None:
    if not isinstance(at, Literal):
        _require(0 <= at < defined, "The program uses a value before it is defined.")
        return
    if at.dtype == "bool":
        _require(type(at.value) is bool, "A literal of type bool is true or false.")
        return
    _require(
        type(at.value) is int and at.dtype in DTYPES and at.dtype.startswith(("int", "uint")),
        "A literal is a whole number or a truth value.",
    )
    range_ = np.iinfo(at.dtype)
    _require(range_.min <= at.value <= range_.max, "A literal is out of the range of its type.")


def _check_types(structure: Block) -> None:
    """Requires that JAX infers the types that the program says; computes no number.

    Raises:
        BadProgram: if not, or if JAX finds anything else wrong.
    """
    arguments = [jax.ShapeDtypeStruct(*type_) for type_ in structure.inputs]
    wide = any(type_.dtype.endswith("64") for type_ in structure.inputs)
    if wide and jnp.zeros(()).dtype != jnp.float64:
        raise BadProgram(
            "The program has 64-bit numbers, which JAX is not set to use: call "
            "jax.config.update('jax_enable_x64', True) before any array is made."
        )
    try:
        jax.eval_shape(lambda *operands: evaluate(structure, operands), *arguments)
    except BadProgram:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise BadProgram(f"The program cannot be evaluated: {lines[0][:200]}") from error


# --- Reading and writing ----------------------------------------------------------------


def _type_json(type_: ArrayType) -> list[Any]:
    return [list(type_.shape), type_.dtype]


def _operand_json(at: Operand) -> Any:
    return [at.value, at.dtype] if isinstance(at, Literal) else at


def _block_json(block: Block) -> list[Any]:
    return [
        [_type_json(type_) for type_ in block.inputs],
        [_equation_json(equation) for equation in block.equations],
        [_operand_json(output) for output in block.outputs],
    ]


def _equation_json(equation: Equation) -> list[Any]:
    return [
        equation.operation,
        [_operand_json(at) for at in equation.operands],
        dict(equation.parameters),
        [_type_json(type_) for type_ in equation.results],
        [_block_json(block) for block in equation.blocks],
    ]


def _read(data: bytes) -> Program:
    """The program in `data`, its form checked but not its meaning."""
    start = len(_MAGIC) + _HEADER_SIZE.size
    limit = start + _MAX_HEADER_BYTES + MAX_CONSTANT_BYTES
    _require(len(data) <= limit, f"A program is at most {limit:,} bytes.")
    _require(data[: len(_MAGIC)] == _MAGIC and len(data) >= start, "This is no program.")
    (size,) = _HEADER_SIZE.unpack_from(data, len(_MAGIC))
    _require(
        size <= _MAX_HEADER_BYTES and start + size <= len(data),
        "The program's header is cut short or too long.",
    )
    header = _parse(data[start : start + size])
    keys = ["inputs", "constants", "equations", "outputs"]
    _require(type(header) is dict and list(header) == keys, f"A program has {', '.join(keys)}.")
    types = _types_read(header["constants"])
    block = _block_read([header["inputs"], header["equations"], header["outputs"]], 0)
    constants = _constants_read(types, data[start + size :])
    return Program(block.inputs, constants, block.equations, block.outputs)


def _parse(text: bytes) -> Any:
    def refuse(constant: str) -> None:
        raise BadProgram(f"A program has no {constant} in its header.")

    try:
        return json.loads(text.decode("ascii"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:  # of which wrong bytes and wrong JSON are kinds
        raise BadProgram("The program's header is not JSON.") from error


def _list(value: Any, what: str, length: int | None = None) -> list[Any]:
    right = type(value) is list and (length is None or len(value) == length)
    _require(right, f"The program's {what} are not as they should be.")
    return value


def _block_read(value: Any, nesting: int) -> Block:
    _require(nesting <= MAX_NESTING, f"A program's loops nest at most {MAX_NESTING} deep.")
    inputs, equations, outputs = _list(value, "blocks", 3)
    return Block(
        _types_read(inputs),
        tuple(_equation_read(one, nesting) for one in _list(equations, "equations")),
        _operands_read(outputs),
    )


def _equation_read(value: Any, nesting: int) -> Equation:
    operation, operands, parameters, results, blocks = _list(value, "equations", 5)
    _require(type(operation) is str, "The program has an operation of no name.")
    _require(type(parameters) is dict, "The program's parameters are not as they should be.")
    return Equation(
        operation,
        _operands_read(operands),
        tuple((key, _plain_read(plain, 0)) for key, plain in parameters.items()),
        _types_read(results),
        tuple(_block_read(block, nesting + 1) for block in _list(blocks, "blocks")),
    )


def _operands_read(value: Any) -> tuple[Operand, ...]:
    return tuple(map(_operand_read, _list(value, "operands")))


def _operand_read(value: Any) -> Operand:
    if type(value) is int:
        return value
    number, dtype = _list(value, "literals", 2)
    _require(type(number) in (int, bool), "A literal is a whole number or a truth value.")
    _require(type(dtype) is str, "The program's literals are not as they should be.")
    return Literal(number, dtype)


def _types_read(value: Any) -> tuple[ArrayType, ...]:
    return tuple(map(_type_read, _list(value, "types")))


def _type_read(value: Any) -> ArrayType:
    shape, dtype = _list(value, "types", 2)
    _require(
        type(dtype) is str and all(type(size) is int for size in _list(shape, "shapes")),
        "The program's types are not as they should be.",
    )
    return ArrayType(tuple(shape), dtype)


def _plain_read(value: Any, nesting: int) -> Plain:
    if type(value) is list:
        _require(nesting < _MAX_PARAMETER_NESTING, "A parameter is nested too deep.")
        return tuple(_plain_read(one, nesting + 1) for one in value)
    _require(type(value) is not dict, "The program's parameters are not as they should be.")
    return value


def _constants_read(types: Sequence[ArrayType], data: bytes) -> tuple[np.ndarray, ...]:
    for type_ in types:
        _check_type(type_)
    sizes = [type_.elements * np.dtype(type_.dtype).itemsize for type_ in types]
    _require(
        sum(sizes) <= MAX_CONSTANT_BYTES,
        f"A program has at most {MAX_CONSTANT_BYTES:,} bytes of constants.",
    )
    _require(sum(sizes) == len(data), "The program's constants are not as long as its header says.")
    constants = []
    start = 0
    for type_, size in zip(types, sizes, strict=True):
        constants.append(_constant_read(type_, data[start : start + size]))
        start += size
    return tuple(constants)


def _constant_read(type_: ArrayType, data: bytes) -> np.ndarray:
    dtype = np.dtype(type_.dtype)
    if dtype == np.bool_:
        _require(not data.strip(b"\x00\x01"), "A truth value is neither true nor false.")
    array = np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)
    array.flags.writeable = False
    return array.reshape(type_.shape)


# --- From a function ----------------------------------------------------------------------


def program_of(function: Callable[..., Any], *examples: Any) -> Program:
    """`function` as a program, for arguments of the shapes and types of `examples`.

    Calls are inlined, those with derivatives of their own too: a program's derivative is that
    of its equations. What has no effect on the outputs is left out, `jax.debug` with it.

    Raises:
        NotAProgram: if it does what no program may.
    """
    closed = jax.make_jaxpr(function)(*examples)
    writer = _Writer()
    inputs = [_Value(_type_of_aval(var.aval, "an argument")) for var in closed.jaxpr.invars]
    outputs = writer.write(closed.jaxpr, closed.consts, inputs, _NOWHERE)
    raw, values = writer.finish(outputs)
    block = writer.block([*inputs, *values], outputs)
    constants = tuple(
        np.array(constant, value.type.dtype) for constant, value in zip(raw, values, strict=True)
    )
    program = Program(block.inputs[: len(inputs)], constants, block.equations, block.outputs)
    if sum(constant.nbytes for constant in constants) > MAX_CONSTANT_BYTES:
        raise NotAProgram(f"more than {MAX_CONSTANT_BYTES:,} bytes of constants")
    try:
        _check_size(program.structure)
    except BadProgram as error:
        raise NotAProgram(f"so much: {str(error).rstrip('.')}") from error
    return program


class _Place(NamedTuple):
    """A line that the author of a step wrote."""

    file: str | None
    line: int | None


_NOWHERE: Final = _Place(None, None)

#: What surrounds an author's code: Python, the packages installed, and this one.
_OTHERS_CODE: Final = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {str(Path(jax.__file__).parent), str(Path(__file__).parents[1]), "<"}
)

# By the jaxpr's name of the call, the parameter that holds what is called.
_CALLS: Final = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "checkpoint": "jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "composite": "jaxpr",
}

_IDENTITIES: Final = frozenset({"copy", "copy_p", "device_put", "optimization_barrier", "name"})

_PRINTS: Final = frozenset({"debug_callback", "debug_print"})

_EXPLANATIONS: Final = {
    "while": "while, a loop whose number of turns is not fixed",
    "pure_callback": "pure_callback: no program calls back into Python",
    "io_callback": "io_callback: no program calls back into Python",
}


class _Value:
    """A value on the way to its number; two are the same only if they are one object."""

    def __init__(self, type_: ArrayType) -> None:
        self.type = type_


_DraftOperand = _Value | Literal


@dataclasses.dataclass
class _Draft:
    """An equation before its values are numbered.

    Attributes:
        problem: why it cannot be in a program; it counts only if the equation is needed.
        needed: whether it is, whatever becomes of its results.
    """

    operation: str
    operands: Sequence[_DraftOperand]
    results: Sequence[_Value]
    parameters: tuple[tuple[str, Plain], ...] = ()
    blocks: tuple[Block, ...] = ()
    problem: NotAProgram | None = None
    needed: bool = False


class _Writer:
    """Writes one block."""

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []
        self._constants: list[tuple[Any, _Value]] = []
        self._known: dict[int, _Value] = {}

    def constant(self, raw: Any) -> _Value:
        """A number or an array that is not structure; one for each object."""
        if id(raw) not in self._known:
            self._known[id(raw)] = self._new_constant(raw)
        return self._known[id(raw)]

    def _new_constant(self, raw: Any) -> _Value:
        dtype = raw.dtype if hasattr(raw, "dtype") else jnp.result_type(raw)
        value = _Value(ArrayType(tuple(np.shape(raw)), str(dtype)))
        self._constants.append((raw, value))
        return value

    def _literal(self, atom: core.Literal) -> _DraftOperand:
        type_ = _type_of_aval(atom.aval, "a literal")
        if type_.dtype == "bool" and type_.shape == ():
            return Literal(bool(atom.val), type_.dtype)
        if type_.shape == () and not type_.dtype.startswith("float"):
            return Literal(int(atom.val), type_.dtype)
        # An object of its own: equal numbers of one run may differ in another.
        return self._new_constant(np.array(atom.val, type_.dtype))

    def write(
        self,
        jaxpr: core.Jaxpr,
        constants: Sequence[Any],
        arguments: Sequence[_DraftOperand],
        place: _Place,
    ) -> list[_DraftOperand]:
        """Writes down the equations of a jaxpr; returns its outputs."""
        values: dict[core.Var, _DraftOperand] = dict(
            zip(jaxpr.constvars, map(self.constant, constants), strict=True)
        )
        values.update(zip(jaxpr.invars, arguments, strict=True))

        def read(atom: Any) -> _DraftOperand:
            return self._literal(atom) if isinstance(atom, core.Literal) else values[atom]

        for equation in jaxpr.eqns:
            results = self._equation(equation, [*map(read, equation.invars)], place)
            values.update(zip(equation.outvars, results, strict=True))
        return [*map(read, jaxpr.outvars)]

    def _equation(
        self, equation: core.JaxprEqn, operands: Sequence[_DraftOperand], place: _Place
    ) -> Sequence[_DraftOperand]:
        name = equation.primitive.name
        place = _place(equation) or place
        if name in _PRINTS:
            return []
        if name in _IDENTITIES:
            return operands
        if name == "convert_element_type" and _any_type(equation.invars[0].aval) == _any_type(
            equation.outvars[0].aval
        ):
            return operands  # all that changes is whether JAX thinks the type a guess
        if name in _CALLS:
            return self.write(*_opened(equation.params[_CALLS[name]]), operands, place)
        draft = _Draft(name, operands, [_Value(_any_type(var.aval)) for var in equation.outvars])
        try:
            self._complete(draft, equation)
        except NotAProgram as problem:
            file, line = (problem.file, problem.line) if problem.file else place
            draft.problem = NotAProgram(problem.operation, file, line)
            draft.needed = bool(equation.effects)
        self._drafts.append(draft)
        return draft.results

    def _complete(self, draft: _Draft, equation: core.JaxprEqn) -> None:
        """Adds to a draft its parameters and blocks.

        Raises:
            NotAProgram: if there is a reason why it cannot be in a program.
        """
        name = draft.operation
        if name not in OPERATIONS and name not in NESTINGS:
            raise NotAProgram(_EXPLANATIONS.get(name, name))
        for var in equation.outvars:
            type_ = _type_of_aval(var.aval, name)
            if type_.elements > MAX_ELEMENTS:
                raise NotAProgram(
                    f"{name} that makes {type_.elements:,} numbers (at most {MAX_ELEMENTS:,})"
                )
        if name == "scan":
            self._scan(draft, equation.params)
        elif name == "cond":
            self._cond(draft, equation.params)
        elif name == "custom_linear_solve":
            self._linear_solve(draft, equation.params)
        else:
            draft.parameters = _parameters(name, equation.params)

    def _scan(self, draft: _Draft, params: Mapping[str, Any]) -> None:
        """A jaxpr has the constants first; here they are last, where there is room for more."""
        kept, carries, length = params["num_consts"], params["num_carry"], params["length"]
        if length > MAX_LENGTH:
            raise NotAProgram(f"a loop of {length:,} turns (at most {MAX_LENGTH:,})")
        body, constants = _opened(params["jaxpr"])
        inputs = [_Value(_type_of_aval(var.aval, "scan")) for var in body.invars]
        writer = _Writer()
        outputs = writer.write(body, constants, inputs, _NOWHERE)
        raw, values = writer.finish(outputs)
        ordered = [*inputs[kept:], *inputs[:kept], *values]
        draft.operands = [
            *draft.operands[kept:],
            *draft.operands[:kept],
            *map(self.constant, raw),
        ]
        draft.blocks = (writer.block(ordered, outputs),)
        parameters = {
            "carries": carries,
            "length": length,
            "reverse": bool(params["reverse"]),
            "scanned": len(inputs) - kept - carries,
        }
        draft.parameters = tuple(sorted(parameters.items()))

    def _cond(self, draft: _Draft, params: Mapping[str, Any]) -> None:
        branches = []
        for branch in params["branches"]:
            inputs = [_Value(_type_of_aval(var.aval, "cond")) for var in branch.jaxpr.invars]
            branches.append((branch, inputs, inputs))
        self._alternatives(draft, branches)

    def _linear_solve(self, draft: _Draft, params: Mapping[str, Any]) -> None:
        """A jaxpr has the constants of each program first, and the right-hand side last."""
        counts = params["const_lengths"]._asdict()
        right = len(draft.operands) - sum(counts.values())
        constants, unknowns = draft.operands[:-right], draft.operands[-right:]
        draft.operands = [*unknowns, *constants]
        draft.parameters = (("unknowns", right),)
        parts = []
        for name in ("matvec", "solve", "transpose_solve"):
            part = getattr(params["jaxprs"], name)
            if part is not None:
                inputs = [_Value(_operand_type(operand)) for operand in draft.operands]
                first = right + sum(counts[other] for other in _before(name, counts))
                own = inputs[first : first + counts[name]]
                parts.append((part, [*own, *inputs[:right]], inputs))
        self._alternatives(draft, parts)
        if any(inner.blocks for block in draft.blocks for inner in block.equations):
            raise NotAProgram("custom_linear_solve with loops or branches in it")

    def _alternatives(
        self, draft: _Draft, parts: Sequence[tuple[Any, Sequence[_Value], Sequence[_Value]]]
    ) -> None:
        """Adds programs that all take the same: operands, then the constants of each program.

        Args:
            draft: whose programs they are.
            parts: of each the jaxpr, its arguments and its inputs, among which these are.
        """
        written = []
        for called, arguments, inputs in parts:
            jaxpr, constants = _opened(called)
            writer = _Writer()
            outputs = writer.write(jaxpr, constants, arguments, _NOWHERE)
            raw, values = writer.finish(outputs)
            draft.operands = [*draft.operands, *map(self.constant, raw)]
            written.append((writer, inputs, values, outputs))
        added = [[_Value(value.type) for value in values] for _, _, values, _ in written]
        blocks = []
        for number, (writer, inputs, values, outputs) in enumerate(written):
            all_added = [*added[:number], values, *added[number + 1 :]]
            ordered = [*inputs, *(value for some in all_added for value in some)]
            blocks.append(writer.block(ordered, outputs))
        draft.blocks = tuple(blocks)

    def finish(self, outputs: Sequence[_DraftOperand]) -> tuple[list[Any], list[_Value]]:
        """Leaves out what the outputs do not need; returns the constants that they do.

        Raises:
            NotAProgram: the first problem of an equation that is needed.
        """
        needed = {value for value in outputs if isinstance(value, _Value)}
        kept = []
        for draft in reversed(self._drafts):
            if draft.needed or needed.intersection(draft.results):
                needed.update(value for value in draft.operands if isinstance(value, _Value))
                kept.append(draft)
        self._drafts = kept[::-1]
        for draft in self._drafts:
            if draft.problem is not None:
                raise draft.problem
        constants = [(raw, value) for raw, value in self._constants if value in needed]
        for _, value in constants:
            if value.type.dtype not in DTYPES:
                raise NotAProgram(f"a constant of type {value.type.dtype}")
        return [raw for raw, _ in constants], [value for _, value in constants]

    def block(self, inputs: Sequence[_Value], outputs: Sequence[_DraftOperand]) -> Block:
        """The block, of which the constants are inputs."""
        results = [value for draft in self._drafts for value in draft.results]
        numbers = {value: number for number, value in enumerate([*inputs, *results])}

        def numbered(values: Sequence[_DraftOperand]) -> tuple[Operand, ...]:
            return tuple(
                value if isinstance(value, Literal) else numbers[value] for value in values
            )

        equations = tuple(
            Equation(
                draft.operation,
                numbered(draft.operands),
                draft.parameters,
                tuple(value.type for value in draft.results),
                draft.blocks,
            )
            for draft in self._drafts
        )
        return Block(tuple(value.type for value in inputs), equations, numbered(outputs))


def _any_type(aval: Any) -> ArrayType:
    """The type of a value that may not be allowed in a program."""
    return ArrayType(tuple(getattr(aval, "shape", ())), str(getattr(aval, "dtype", aval)))


def _type_of_aval(aval: Any, what: str) -> ArrayType:
    type_ = _any_type(aval)
    if type_.dtype not in DTYPES:
        raise NotAProgram(f"{what} of type {type_.dtype}")
    return type_


def _operand_type(operand: _DraftOperand) -> ArrayType:
    return operand.type if isinstance(operand, _Value) else ArrayType((), operand.dtype)


def _before(name: str, names: Iterable[str]) -> Iterator[str]:
    return itertools.takewhile(lambda other: other != name, names)


def _opened(called: Any) -> tuple[core.Jaxpr, Sequence[Any]]:
    """A jaxpr and the constants it closes over, if any."""
    if isinstance(called, core.ClosedJaxpr):
        return called.jaxpr, called.consts
    return called, ()


def _parameters(name: str, params: Mapping[str, Any]) -> tuple[tuple[str, Plain], ...]:
    """The parameters of an operation, from those of the jaxpr."""
    operation = OPERATIONS[name]
    for key, raw in params.items():
        known = key in operation.parameters or key in operation.ignored
        if not known and raw is not None and raw is not False:
            raise NotAProgram(f"{name} with {key}={raw}")
    parameters = []
    for key, kind in sorted(operation.parameters.items()):
        try:
            plain = kind.plain(params[key])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise NotAProgram(f"{name} with {key}={params.get(key)}") from error
        if not kind.allows(plain):
            raise NotAProgram(f"{name} with {key}={params[key]}")
        parameters.append((key, plain))
    return tuple(parameters)


def _place(equation: core.JaxprEqn) -> _Place | None:
    """The innermost line of the author's own that led to an equation."""
    traceback = equation.source_info.traceback
    for frame in traceback.frames if traceback else ():
        if not frame.file_name.startswith(_OTHERS_CODE):
            return _Place(frame.file_name, frame.line_num)
    return None
