"""Is a program one that the grader runs: allowed operations, sound references, bounded work?

Nothing is evaluated but abstractly, and that only once all names and sizes are known to be
in order.
"""

import math
from collections.abc import Sequence
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from enso_jax.submissions._operations import DTYPES, NESTINGS, OPERATIONS
from enso_jax.submissions._program import (
    ArrayType,
    BadProgram,
    Block,
    Equation,
    Literal,
    Operand,
    evaluate,
    parameter_kinds,
)

MAX_EQUATIONS: Final = 20_000
MAX_CONSTANT_BYTES: Final = 8 * 2**20
MAX_ELEMENTS: Final = 2**20
MAX_LENGTH: Final = 10_000
MAX_NESTING: Final = 20
MAX_WORK: Final = 10_000_000
_MAX_OPERANDS: Final = 10_000
_MAX_RANK: Final = 16


def require(condition: bool, otherwise: str) -> None:
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
        require(
            self.equations <= MAX_EQUATIONS,
            f"A program has at most {MAX_EQUATIONS:,} equations, with those of its loops' bodies.",
        )
        require(
            self.work <= MAX_WORK,
            f"A program touches at most {MAX_WORK:,} numbers, its loops' turns multiplied out.",
        )


def check_size(structure: Block) -> None:
    """Requires that all names, references and sizes are allowed; evaluates nothing.

    Raises:
        BadProgram: if one is not.
    """
    _check_block(structure, _Size(), turns=1, nesting=0)


def _check_block(block: Block, size: _Size, turns: int, nesting: int) -> None:
    require(nesting <= MAX_NESTING, f"A program's loops nest at most {MAX_NESTING} deep.")
    size.add(1, turns)  # so that a loop over nothing is counted too
    types = [*block.inputs]
    for type_ in types:
        check_type(type_)
    for equation in block.equations:
        _check_equation(equation, types, size, turns, nesting)
        types.extend(equation.results)
    for output in block.outputs:
        _check_operand(output, len(types))


def _check_equation(
    equation: Equation, types: Sequence[ArrayType], size: _Size, turns: int, nesting: int
) -> None:
    name = equation.operation
    require(name in OPERATIONS or name in NESTINGS, "The program has an operation of no name.")
    require(
        max(len(equation.operands), len(equation.results)) <= _MAX_OPERANDS,
        f"{name} has more than {_MAX_OPERANDS:,} operands or results.",
    )
    for at in equation.operands:
        _check_operand(at, len(types))
    for type_ in equation.results:
        check_type(type_)
    kinds = parameter_kinds(name)
    require(
        [key for key, _ in equation.parameters] == sorted(kinds),
        f"The parameters of {name} are {', '.join(sorted(kinds)) or 'none'}.",
    )
    for key, plain in equation.parameters:
        require(kinds[key].allows(plain), f"{name} has a {key} that it cannot have.")
    operands = [() if isinstance(at, Literal) else types[at].shape for at in equation.operands]
    results = [type_.shape for type_ in equation.results]
    if name in NESTINGS:
        length = dict(equation.parameters).get("length", 1)
        require(length <= MAX_LENGTH, f"A loop takes at most {MAX_LENGTH:,} turns.")
        size.add(1, turns * sum(map(math.prod, results)))
        for block in equation.blocks:
            require(
                NESTINGS[name].deep or not any(inner.blocks for inner in block.equations),
                f"{name} holds no programs that hold programs.",
            )
            _check_block(block, size, turns * max(length, 1), nesting + 1)
        return
    operation = OPERATIONS[name]
    arity = len(operands) if operation.arity is None else operation.arity
    require(
        len(operands) == arity and (operands != [] or operation.arity == 0),
        f"{name} does not take {len(operands)} operands.",
    )
    require(not equation.blocks, f"{name} holds no programs.")
    size.add(1, turns * max(operation.work(operands, results), 1))


def check_type(type_: ArrayType) -> None:
    require(type_.dtype in DTYPES, "A program has arrays of a type that is not allowed.")
    require(
        len(type_.shape) <= _MAX_RANK
        and all(0 <= size <= MAX_ELEMENTS for size in type_.shape)
        and type_.elements <= MAX_ELEMENTS,
        f"An array in a program has at most {MAX_ELEMENTS:,} elements and {_MAX_RANK} axes.",
    )


def _check_operand(at: Operand, defined: int) -> None:
    if not isinstance(at, Literal):
        require(0 <= at < defined, "The program uses a value before it is defined.")
        return
    if at.dtype == "bool":
        require(type(at.value) is bool, "A literal of type bool is true or false.")
        return
    require(
        type(at.value) is int and at.dtype in DTYPES and at.dtype.startswith(("int", "uint")),
        "A literal is a whole number or a truth value.",
    )
    range_ = np.iinfo(at.dtype)
    require(range_.min <= at.value <= range_.max, "A literal is out of the range of its type.")


def check_types(structure: Block) -> None:
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
