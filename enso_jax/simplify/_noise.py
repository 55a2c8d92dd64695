"""How strong is a noise that no longer depends on the state?

As strong as it was on average at each time of the year, along the original's own run::

    s m(t) = sqrt( mean over x of g(x, t)^2 )

with the harmonics that the amplitude had, by least squares.
"""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from enso_jax.fitting import Samples
from enso_jax.models import Amplitude, TermModel, season
from enso_jax.state import MONTHS_PER_YEAR, NAMES


def with_mean_levels(model: TermModel, dropped: frozenset[str], samples: Samples) -> TermModel:
    """The model with the levels and modulations of dropped noise dependences set as above."""
    times, inverse = np.unique(np.round(samples.t % MONTHS_PER_YEAR, 6), return_inverse=True)

    def mean_square(variable: int) -> np.ndarray:
        square = np.asarray(samples.covariance)[:, variable, variable]
        unit = float(model.scales[variable]) ** 2 / float(model.time_scale)
        return np.bincount(inverse, square / unit) / np.bincount(inverse)

    amplitudes = tuple(
        _levelled(amplitude, model, times, np.sqrt(mean_square(NAMES.index(amplitude.equation))))
        if amplitude.group in dropped
        else amplitude
        for amplitude in model.amplitudes
    )
    return eqx.tree_at(lambda tree: tree.amplitudes, model, amplitudes)


def _levelled(
    amplitude: Amplitude, model: TermModel, times: np.ndarray, size: np.ndarray
) -> Amplitude:
    """The amplitude whose cycle is nearest to `size` at `times`; its first harmonic is 1."""
    seasons = season(jnp.asarray(times), model.phase)
    columns = np.stack([np.asarray(seasons[name]) for name in amplitude.harmonics], axis=1)
    cycle = np.linalg.lstsq(columns, size, rcond=None)[0]
    level = cycle[0]
    return dataclasses.replace(amplitude, level=level, modulation=jnp.asarray(cycle / level))
