"""What does a model do, in the variables of the built-in models?

Samples with the state divided by its scales and time by two months, so that coefficients
found from them compare with the paper's::

    x = state / scales,   f = drift * time / scales,   Q = covariance * time / (scales scales^T)
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from enso_jax.fitting import Samples
from enso_jax.models import TermModel
from enso_jax.state import TIME_SCALE_MONTHS, VARIABLES

_SCALES = np.array([variable.scale for variable in VARIABLES])


@dataclasses.dataclass(frozen=True)
class Behaviour:
    """Drift and noise at many states; nondimensional but for `t`, in months.

    Attributes:
        x: the states.
        t: when they were visited.
        f: the drift.
        Q: the covariance of the noise.
    """

    x: Float[np.ndarray, "sample variable"]
    t: Float[np.ndarray, " sample"]
    f: Float[np.ndarray, "sample variable"]
    Q: Float[np.ndarray, "sample variable variable"]

    @property
    def g(self) -> Float[np.ndarray, "sample variable"]:
        """The amplitudes of the noise, ``sqrt(Q_ii)``."""
        return np.sqrt(np.diagonal(self.Q, axis1=1, axis2=2))

    def thinned(self, most: int) -> "Behaviour":
        """`most` samples at random, always the same ones; all if there are no more."""
        if len(self.t) <= most:
            return self
        # At random, since every k-th sample may be of the same days of every year.
        rng = np.random.default_rng(0)
        keep = np.sort(rng.choice(len(self.t), most, replace=False))
        return Behaviour(self.x[keep], self.t[keep], self.f[keep], self.Q[keep])

    def of(
        self, model: TermModel
    ) -> tuple[Float[np.ndarray, "sample variable"], Float[np.ndarray, "sample variable"]]:
        """The drift and the amplitudes of a `model` of these scales at the same states."""
        drift, diffusion = _evaluated(model, jnp.asarray(self.x * _SCALES), jnp.asarray(self.t))
        return np.asarray(drift), np.asarray(diffusion)


def behaviour(samples: Samples) -> Behaviour:
    """The samples, nondimensional and in float64."""
    state, t, drift, covariance = (
        np.asarray(values, np.float64)
        for values in (samples.state, samples.t, samples.drift, samples.covariance)
    )
    return Behaviour(
        state / _SCALES,
        t,
        drift * TIME_SCALE_MONTHS / _SCALES,
        covariance * TIME_SCALE_MONTHS / np.outer(_SCALES, _SCALES),
    )


@eqx.filter_jit
def _evaluated(
    model: TermModel, state: Float[Array, "sample variable"], t: Float[Array, " sample"]
) -> tuple[Float[Array, "sample variable"], Float[Array, "sample variable"]]:
    return jax.vmap(model.drift)(state, t), jax.vmap(model.diffusion)(state, t)
