"""How is a jaxpr taken apart, and how is one of its equations computed?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
from jax.extend import core
from jaxtyping import Array


def computed(
    equation: core.JaxprEqn, jaxpr: core.Jaxpr, operands: Sequence[Array]
) -> Sequence[Array]:
    """The results of an equation of `jaxpr` with these operands."""
    if any(True for _ in inner_jaxprs(equation)):
        return _called(equation, jaxpr, operands)
    result = equation.primitive.bind(*operands, **equation.params)
    return result if equation.primitive.multiple_results else [result]


def read(atom: Any, known: Mapping[Any, Any]) -> Any:
    """A literal's value, or what is known of a variable."""
    if isinstance(atom, core.Literal):
        return jnp.asarray(atom.val, atom.aval.dtype)  # pyright: ignore[reportAttributeAccessIssue]
    return known[atom]


def variables(atoms: Sequence[Any]) -> list[Any]:
    """Those that are no literals."""
    return [atom for atom in atoms if not isinstance(atom, core.Literal)]


def inner_jaxprs(equation: core.JaxprEqn) -> Iterator[core.Jaxpr]:
    """The functions inside an equation: a loop's body, the branches of a condition."""
    for value in equation.params.values():
        for part in value if isinstance(value, list | tuple) else [value]:
            if isinstance(part, core.ClosedJaxpr):
                yield part.jaxpr
            elif isinstance(part, core.Jaxpr):
                yield part


def primitives(jaxpr: core.Jaxpr) -> Iterator[str]:
    """The names of all operations, those of inner functions too."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for inner in inner_jaxprs(equation):
            yield from primitives(inner)


def _called(
    equation: core.JaxprEqn, jaxpr: core.Jaxpr, operands: Sequence[Array]
) -> Sequence[Array]:
    # What an operation with functions inside (a loop, a derivative of its own) wants is JAX's
    # business; JAX evaluates a jaxpr that has no other equation.
    known = {
        atom: operand
        for atom, operand in zip(equation.invars, operands, strict=True)
        if not isinstance(atom, core.Literal)
    }
    alone = jaxpr.replace(
        constvars=[], invars=list(known), eqns=[equation], outvars=list(equation.outvars)
    )
    function = core.jaxpr_as_fun(core.ClosedJaxpr(alone, ()))
    return function(*known.values())
