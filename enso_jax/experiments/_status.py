"""Did a run stay finite, and if not, since when?

A compiled run never raises, so that one bad model does not end a batch. It
returns with its arrays the number of the first month that is not finite.
"""

from typing import Final

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

#: The status of a run whose every month is finite.
FINITE: Final = -1


def first_non_finite(finite: Bool[Array, "*batch month"]) -> Int[Array, "*batch"]:
    """The number of the first month that is not finite, or `FINITE`."""
    return jnp.where(finite.all(axis=-1), FINITE, jnp.argmin(finite, axis=-1))
