"""In which precision does an experiment compute?

In that of the protocol, whatever its inputs are in. JAX turns float64 off unless told
otherwise, and would then silently compute in float32.
"""

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp

from enso_jax.protocol import Protocol

_Inputs = TypeVar("_Inputs")


class PrecisionError(RuntimeError):
    """JAX would compute in float32 what the protocol wants in float64."""


_NO_FLOAT64 = (
    "JAX computes in float32 here, but the protocol asks for float64: call "
    "jax.config.update('jax_enable_x64', True) before any array is made, "
    "or grade with Protocol(state_dtype='float32', noise_dtype='float32')."
)


def in_precision(inputs: _Inputs, protocol: Protocol) -> _Inputs:
    """`inputs` with every floating array in the type of the state, so that none widens it.

    Raises:
        PrecisionError: if JAX is not able to compute in the protocol's precision. The switch is
            global and importing a foreign module may turn it, so every experiment asks when
            it is traced.
    """
    wanted = {protocol.state_dtype, protocol.noise_dtype}
    if "float64" in wanted and jnp.zeros(()).dtype != jnp.float64:
        raise PrecisionError(_NO_FLOAT64)
    arrays, rest = eqx.partition(inputs, eqx.is_inexact_array)
    arrays = jax.tree.map(lambda array: jnp.asarray(array, protocol.state_dtype), arrays)
    return eqx.combine(arrays, rest)
