"""How does a step leave the process that traced it, so that nobody need trust its author?

As data: the equations of its jaxpr, over the operations of `_operations`, and the numbers
in them. The child process makes a `Program` of a function (`_program_of`). The grader reads
it (`_program_bytes`), believing nothing (`_program_checks`), and evaluates it here with
public functions of `jax.lax`, so that it can be batched, differentiated and compiled like
any other function::

    data = write_program(program_of(function, state, t, noise))     # in the child
    program = read_program(data)                                    # in the grader
    (state,) = program(state, t, noise)

Floating numbers in the code (``0.5 * x``) are constants of the program, not structure.
Code that runs with other parameters is then the same structure with other constants.
"""

import dataclasses
import functools
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from enso_jax.submissions._operations import NESTINGS, OPERATIONS, Parameter, Plain


class BadProgram(Exception):  # noqa: N818 - it is what the grader says of it
    """This is no program that the grader runs. Its text is one sentence."""


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

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 over all of it, hexadecimal."""
        text = repr((self.inputs, self.equations, self.outputs))
        return hashlib.sha256(text.encode()).hexdigest()

    def __repr__(self) -> str:
        # Error messages show the static parts of a module, and have no room for this one. The
        # digest tells it from all others: a model's own digest rests on this text.
        counted = f"{len(self.equations)} equations of {listed(self.inputs[:3])}, ..."
        return f"<{counted}: {self.digest[:32]}>"

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
        constants = tuple(map(type_of, self.constants))
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
                raise BadProgram(f"The program's {kind} are {listed(found)}, not {listed(wanted)}.")


def type_of(array: Any) -> ArrayType:
    return ArrayType(tuple(array.shape), array.dtype.name)


def listed(types: Sequence[tuple[tuple[int, ...], str]]) -> str:
    return ", ".join(f"{dtype}{list(shape)}" for shape, dtype in types) or "none"


# --- Evaluation -------------------------------------------------------------------------


def evaluate(block: Block, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of `block` for arrays of the types of its inputs.

    Raises:
        BadProgram: if a value is not of the type that the block says.
    """
    require_types(operands, block.inputs, "a block's inputs")
    values = [*operands]
    for equation in block.equations:
        results = _evaluate_equation(equation, [value_of(values, at) for at in equation.operands])
        require_types(results, equation.results, f"the results of {equation.operation}")
        values.extend(results)
    return tuple(value_of(values, at) for at in block.outputs)


def _evaluate_equation(equation: Equation, operands: Sequence[Any]) -> Sequence[Any]:
    kinds = parameter_kinds(equation.operation)
    parameters = {name: kinds[name].native(plain) for name, plain in equation.parameters}
    if equation.operation in NESTINGS:
        runs = [functools.partial(_evaluate_arguments, block) for block in equation.blocks]
        return NESTINGS[equation.operation].evaluate(runs, *operands, **parameters)
    results = OPERATIONS[equation.operation].evaluate(*operands, **parameters)
    return results if isinstance(results, tuple | list) else (results,)


def _evaluate_arguments(block: Block, *operands: Any) -> tuple[Any, ...]:
    return evaluate(block, operands)


def parameter_kinds(operation: str) -> Mapping[str, Parameter]:
    return (NESTINGS if operation in NESTINGS else OPERATIONS)[operation].parameters


def value_of(values: Sequence[Any], at: Operand) -> Any:
    return np.asarray(at.value, at.dtype) if isinstance(at, Literal) else values[at]


def require_types(arrays: Sequence[Any], types: tuple[ArrayType, ...], what: str) -> None:
    found = tuple(map(type_of, arrays))
    if found != types:
        raise BadProgram(f"The types of {what} are {listed(found)}, not {listed(types)}.")
