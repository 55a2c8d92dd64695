"""How does a program cross from the child to the grader?

A line, the header's size, the header as JSON, and the constants' bytes in order.
"""

import json
import struct
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from enso_jax.submissions._operations import Plain
from enso_jax.submissions._program import (
    ArrayType,
    BadProgram,
    Block,
    Equation,
    Literal,
    Operand,
    Program,
    type_of,
)
from enso_jax.submissions._program_checks import (
    MAX_CONSTANT_BYTES,
    MAX_NESTING,
    check_size,
    check_type,
    check_types,
    require,
)

# Lists in lists: those of equations in programs in equations, and of numbers in parameters.
_MAX_PARAMETER_NESTING: Final = 4
_MAX_HEADER_BYTES: Final = 4 * 2**20

_MAGIC: Final = b"enso-jax program 1\n"
_HEADER_SIZE: Final = struct.Struct("<I")


def write_program(program: Program) -> bytes:
    """The program as bytes, the same for equal programs."""
    header = {
        "inputs": [_type_json(type_) for type_ in program.inputs],
        "constants": [_type_json(type_of(constant)) for constant in program.constants],
        "equations": [_equation_json(equation) for equation in program.equations],
        "outputs": [_operand_json(output) for output in program.outputs],
    }
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("ascii")
    numbers = [_little_endian(constant).tobytes() for constant in program.constants]
    return b"".join([_MAGIC, _HEADER_SIZE.pack(len(text)), text, *numbers])


def read_program(data: bytes) -> Program:
    """Reads what `write_program` wrote, from anybody.

    Everything is checked before it is used: names, references and sizes first, then the
    shapes and types of all results by an abstract evaluation, which computes nothing.

    Raises:
        BadProgram: if anything is not as `write_program` writes it, or is too large.
    """
    program = _read(data)
    check_size(program.structure)
    if write_program(program) != data:  # so that equal programs are equal bytes
        raise BadProgram("The program is not written in the canonical form.")
    check_types(program.structure)
    return program


def _little_endian(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


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
    require(len(data) <= limit, f"A program is at most {limit:,} bytes.")
    require(data[: len(_MAGIC)] == _MAGIC and len(data) >= start, "This is no program.")
    (size,) = _HEADER_SIZE.unpack_from(data, len(_MAGIC))
    require(
        size <= _MAX_HEADER_BYTES and start + size <= len(data),
        "The program's header is cut short or too long.",
    )
    header = _parse(data[start : start + size])
    keys = ["inputs", "constants", "equations", "outputs"]
    require(type(header) is dict and list(header) == keys, f"A program has {', '.join(keys)}.")
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
    require(right, f"The program's {what} are not as they should be.")
    return value


def _block_read(value: Any, nesting: int) -> Block:
    require(nesting <= MAX_NESTING, f"A program's loops nest at most {MAX_NESTING} deep.")
    inputs, equations, outputs = _list(value, "blocks", 3)
    return Block(
        _types_read(inputs),
        tuple(_equation_read(one, nesting) for one in _list(equations, "equations")),
        _operands_read(outputs),
    )


def _equation_read(value: Any, nesting: int) -> Equation:
    operation, operands, parameters, results, blocks = _list(value, "equations", 5)
    require(type(operation) is str, "The program has an operation of no name.")
    require(type(parameters) is dict, "The program's parameters are not as they should be.")
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
    require(type(number) in (int, bool), "A literal is a whole number or a truth value.")
    require(type(dtype) is str, "The program's literals are not as they should be.")
    return Literal(number, dtype)


def _types_read(value: Any) -> tuple[ArrayType, ...]:
    return tuple(map(_type_read, _list(value, "types")))


def _type_read(value: Any) -> ArrayType:
    shape, dtype = _list(value, "types", 2)
    require(
        type(dtype) is str and all(type(size) is int for size in _list(shape, "shapes")),
        "The program's types are not as they should be.",
    )
    return ArrayType(tuple(shape), dtype)


def _plain_read(value: Any, nesting: int) -> Plain:
    if type(value) is list:
        require(nesting < _MAX_PARAMETER_NESTING, "A parameter is nested too deep.")
        return tuple(_plain_read(one, nesting + 1) for one in value)
    require(type(value) is not dict, "The program's parameters are not as they should be.")
    return value


def _constants_read(types: Sequence[ArrayType], data: bytes) -> tuple[np.ndarray, ...]:
    for type_ in types:
        check_type(type_)
    sizes = [type_.elements * np.dtype(type_.dtype).itemsize for type_ in types]
    require(
        sum(sizes) <= MAX_CONSTANT_BYTES,
        f"A program has at most {MAX_CONSTANT_BYTES:,} bytes of constants.",
    )
    require(sum(sizes) == len(data), "The program's constants are not as long as its header says.")
    constants = []
    start = 0
    for type_, size in zip(types, sizes, strict=True):
        constants.append(_constant_read(type_, data[start : start + size]))
        start += size
    return tuple(constants)


def _constant_read(type_: ArrayType, data: bytes) -> np.ndarray:
    dtype = np.dtype(type_.dtype)
    if dtype == np.bool_:
        require(not data.strip(b"\x00\x01"), "A truth value is neither true nor false.")
    array = np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)
    array.flags.writeable = False
    return array.reshape(type_.shape)
