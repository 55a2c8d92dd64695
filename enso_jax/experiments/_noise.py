"""Where do the random numbers of a run come from?

Every experiment takes its noise as an argument: an object that gives the standard
normals of one block of a run (a month, or many) by the block's number. They are
drawn in bulk, block by block, because drawing inside a step costs many times the
step, and because a whole experiment's noise at once would not stay in cache.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from enso_jax.experiments._normals import normals


class Noise(eqx.Module):
    """The standard normals that drive one experiment."""

    @abc.abstractmethod
    def block(self, number: Int[Array, ""], shape: tuple[int, ...]) -> Float[Array, "..."]:
        """The normals of block `number`, an array of `shape`."""


class SeededNoise(Noise):
    """Independent normals drawn from a key: the same key, the same numbers, block by block.

    Attributes:
        key: a `jax.random.key` (threefry: the same numbers on every device, and under vmap).
        dtype: in which precision they are drawn.
    """

    key: Key[Array, ""]
    dtype: str = eqx.field(static=True, default="float32")

    def block(self, number, shape):
        return normals(jax.random.fold_in(self.key, number), shape, self.dtype)


class RecordedNoise(Noise):
    """Normals given as an array whose first axis counts the blocks.

    With it the same numbers drive two engines, or two models.
    """

    values: Float[Array, "block ..."]

    def block(self, number, shape):
        block = jax.lax.dynamic_index_in_dim(self.values, number, keepdims=False)
        return jnp.reshape(block, shape)
