"""How is a submitted program stepped by the experiments?

As a `Step`. Its numbers are array leaves and its equations are static, so the checkpoints
of one run, which differ in their numbers alone, stack and are stepped together.
"""

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jaxtyping import Array, Float

from enso_jax.models import Step
from enso_jax.state import NAMES
from enso_jax.submissions._program import ArrayType, BadProgram, Block, Program, evaluate

# As fine as float32 holds one thirtieth.
_SAME_DT = 1e-6

# State, t and noise.
_ARGUMENTS = 3


class ProgramStep(Step):
    """A step that was traced for one `dt`.

    Attributes:
        scalars: the program's floating numbers. As leaves of their own, a hundred of them make
            a free run a third slower.
        arrays: its other constants. Both are in the order of the structure's last inputs.
        structure: the program's equations.
        dt: months, for which the program was traced.
    """

    scalars: Float[Array, " scalar"]
    arrays: tuple[Array, ...]
    structure: Block = eqx.field(static=True)
    dt: float = eqx.field(static=True)
    noise_size: int = eqx.field(static=True)

    def __init__(self, program: Program, dt: float) -> None:
        """The program takes a state (5,), t () and noise (q,) and returns a state (5,).

        Raises:
            BadProgram: if it takes or returns anything else.
        """
        self.noise_size = _noise_size(program)
        self.structure = program.structure
        self.dt = float(dt)
        types = self.structure.inputs[_ARGUMENTS:]
        constants = [*zip(types, program.constants, strict=True)]
        scalars = [float(constant) for type_, constant in constants if _is_scalar(type_)]
        self.scalars = jnp.asarray(np.array(scalars, float), float)
        self.arrays = tuple(
            jnp.asarray(constant) for type_, constant in constants if not _is_scalar(type_)
        )

    def __call__(self, state, t, dt, noise):
        """The state at `t + dt`, computed in the program's precision.

        Raises:
            ValueError: if `dt` is known and is not that for which the program was traced.
        """
        if not isinstance(dt, Tracer) and not math.isclose(dt, self.dt, rel_tol=_SAME_DT):
            raise ValueError(f"the program steps {self.dt:g} months, not {float(dt):g}")
        arguments = [
            jnp.asarray(argument, type_.dtype)
            for argument, type_ in zip(
                (state, t, noise, *self._constants()), self.structure.inputs, strict=True
            )
        ]
        (new,) = evaluate(self.structure, arguments)
        return jnp.asarray(new, state.dtype)

    def _constants(self) -> list[Array]:
        """The program's constants, in its order."""
        types = self.structure.inputs[_ARGUMENTS:]
        count = sum(map(_is_scalar, types))
        scalars = iter(
            [lax.index_in_dim(self.scalars, number, keepdims=False) for number in range(count)]
        )
        arrays = iter(self.arrays)
        return [next(scalars if _is_scalar(type_) else arrays) for type_ in types]


def _is_scalar(type_: ArrayType) -> bool:
    return type_.shape == () and type_.dtype.startswith("float")


def _noise_size(program: Program) -> int:
    """q, of a program with the signature of a step."""
    inputs, outputs = program.inputs, program.structure.output_types
    floating = all(np.dtype(type_.dtype).kind == "f" for type_ in (*inputs, *outputs))
    vector = (len(NAMES),)
    shapes = [type_.shape for type_ in inputs]
    right = len(shapes) == _ARGUMENTS and shapes[:2] == [vector, ()] and len(shapes[2]) == 1
    if not (floating and right and [type_.shape for type_ in outputs] == [vector]):
        raise BadProgram(
            "A step's program takes a state of 5 numbers, a time and a vector of noise, "
            "and returns a state of 5 numbers."
        )
    return shapes[2][0]
