"""Which program does a function in JAX make?

Its jaxpr, over the allowed operations, with the floating numbers in the code as constants.
"""

import dataclasses
import itertools
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from enso_jax.submissions._operations import DTYPES, NESTINGS, OPERATIONS, Plain
from enso_jax.submissions._program import (
    ArrayType,
    BadProgram,
    Block,
    Equation,
    Literal,
    Operand,
    Program,
)
from enso_jax.submissions._program_checks import (
    MAX_CONSTANT_BYTES,
    MAX_ELEMENTS,
    MAX_LENGTH,
    check_size,
)


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
        check_size(program.structure)
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
