"""How does a search move some of a model's numbers, and keep signs what they are?

It moves coordinates z, one for each number v of the model::

    v = start              where it is not free
    v = sign(start) e^z    where it is a scale or a level
    v = z                  elsewhere

Which numbers are free is data, so that one compiled program serves all reductions of a model.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float

from enso_jax.fitting._free import KINDS, SIGNED, numbers, of_kind, which_are_free
from enso_jax.models import TermModel


class Chart(eqx.Module):
    """Coordinates of a model's numbers.

    Attributes:
        start: the numbers that are not free, and the signs.
        free: which are free.
        signed: which of those keep their sign.
    """

    start: TermModel
    free: Bool[Array, " number"]
    signed: Bool[Array, " number"]

    def origin(self) -> Float[Array, " number"]:
        """The coordinates of the start."""
        values, _ = ravel_pytree(self.start)
        return jnp.where(self.signed, jnp.log(jnp.abs(values)), values)

    def values(self, z: Float[Array, " number"]) -> Float[Array, " number"]:
        """The numbers at coordinates z."""
        values, _ = ravel_pytree(self.start)
        # The exponential of other coordinates may be infinite, and would poison the gradient.
        size = jnp.exp(jnp.where(self.signed, z, jnp.zeros_like(z)))
        moved = jnp.where(self.signed, jnp.sign(values) * size, z)
        return jnp.where(self.free, moved, values)

    def model(self, z: Float[Array, " number"]) -> TermModel:
        """The model at coordinates z."""
        _, unravel = ravel_pytree(self.start)
        return unravel(self.values(z))


def chart(start: TermModel, free: TermModel) -> Chart:
    """Coordinates of the free numbers of `start`.

    Raises:
        ValueError: if `free` has another structure, or frees what cannot be refitted.
    """
    movable = which_are_free(free, of_kind(start, *KINDS))
    return Chart(start, jnp.asarray(movable), jnp.asarray(movable & of_kind(start, *SIGNED)))


def moved(start: TermModel, places: Chart, z: Array) -> np.ndarray:
    """The numbers at z; those not free are those of `start`, to the bit."""
    return np.where(np.asarray(places.free), np.asarray(places.values(z)), numbers(start))


def in_units(places: Chart, z: Array, errors: np.ndarray) -> np.ndarray:
    """Small departures from z as departures of the numbers."""
    values = np.abs(np.asarray(places.values(z)))
    return np.where(np.asarray(places.free), errors * np.where(places.signed, values, 1.0), 0.0)
