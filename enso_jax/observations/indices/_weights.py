"""How much does each cell of a box count in its mean?"""

from collections.abc import Callable

import numpy as np

from enso_jax.observations.fields import Box

#: (rows,) degrees north, (columns,) degrees east, the box -> (rows, columns).
Weighting = Callable[[np.ndarray, np.ndarray, Box], np.ndarray]


def cosine_weights(latitude: np.ndarray, longitude: np.ndarray, box: Box) -> np.ndarray:
    """The cosine of latitude of every cell whose centre is in the box, as the paper asks."""
    return np.cos(np.deg2rad(latitude))[:, np.newaxis] * np.ones(longitude.size)


def area_weights(latitude: np.ndarray, longitude: np.ndarray, box: Box) -> np.ndarray:
    """The same, but a cell cut by the box's edge counts only by the part that is inside.

    So the boxes of T_C and T_E, which share the meridian 150W, share no area. Centres of
    monitoring compute so; the paper does not say it.
    """
    across = _inside(longitude, box.west_dege, box.east_dege)
    along = _inside(latitude, box.south_degn, box.north_degn)
    return cosine_weights(latitude, longitude, box) * along[:, np.newaxis] * across


def uniform_weights(latitude: np.ndarray, longitude: np.ndarray, box: Box) -> np.ndarray:
    """Every cell alike: a known mistake, since cells are narrower away from the equator."""
    return np.ones((latitude.size, longitude.size))


def _inside(centres: np.ndarray, low: float, high: float) -> np.ndarray:
    """Which part of every cell lies between two edges."""
    half = float(np.median(np.diff(centres))) / 2 if centres.size > 1 else 0.5
    overlap = np.minimum(centres + half, high) - np.maximum(centres - half, low)
    return np.clip(overlap / (2 * half), 0.0, 1.0)
