"""Is JAX able to compute in the precision that the protocol asks for?"""

import jax.numpy as jnp

from enso_jax.protocol import Protocol


class PrecisionError(RuntimeError):
    """JAX would silently compute in float32 what the protocol wants in float64."""


_NO_FLOAT64 = (
    "JAX computes in float32 here, but the protocol asks for float64: call "
    "jax.config.update('jax_enable_x64', True) before any array is made, "
    "or grade with Protocol(state_dtype='float32')."
)


def require_precision(protocol: Protocol) -> None:
    """Raises `PrecisionError` if the protocol's precision is not to be had.

    The switch is global and importing a foreign module may turn it, so every
    experiment asks when it is traced.
    """
    wanted = {protocol.state_dtype, protocol.noise_dtype}
    if "float64" in wanted and jnp.zeros(()).dtype != jnp.float64:
        raise PrecisionError(_NO_FLOAT64)
