"""How far off are fitted numbers when no misfit is independent of the next?

The estimate makes ``sum_s S_s = 0``, S_s being the score of segment s: the derivative of what
is minimised, taken over one of 20 consecutive segments of the run. With H its curvature over
all of the run, and c the covariance of an estimate from another run of the same length::

    c = H^+ ( 20/19 sum_s S_s S_s^T ) H^+

to which comes what the search left of the way to the minimum, the square of ``H^+ sum_s S_s``.
Segments of decades are independent of one another, however much one misfit resembles the
next within them. A direction that the curvature does not see has error 0.
"""

from typing import Final

import numpy as np

from enso_jax.fitting._samples import Samples

SEGMENTS: Final = 20
#: A direction whose curvature is less than this share of the largest is not seen.
_SINGULAR: Final = 1e-12


def in_segments(samples: Samples) -> tuple[Samples, np.ndarray]:
    """Consecutive segments of equal length, and the weight of each sample in them.

    The axis of the samples becomes ``(segment, sample)``. The last segment is filled with copies
    of the last sample, of weight 0.
    """
    count = len(samples.t)
    length = -(-count // SEGMENTS)
    places = np.arange(SEGMENTS * length).reshape(SEGMENTS, length)
    within = np.minimum(places, count - 1)
    cut = Samples(
        samples.state[within],
        samples.t[within],
        samples.drift[within],
        samples.covariance[within],
        samples.nonlinear_noise,
    )
    return cut, (places < count).astype(samples.t.dtype)


def inverse_root(curvature: np.ndarray) -> np.ndarray:
    """W with ``W W^T = H^+``, the inverse of a symmetric matrix ``(n, n)`` where it has one.

    Each number is measured in its own curvature, so that units do not matter. A direction
    that is not seen has length 0 in W; a negative curvature counts as if it were positive.
    """
    size = np.sqrt(np.abs(np.diag(curvature)))
    size = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(curvature / np.outer(size, size))
    strength = np.abs(values)
    seen = strength > _SINGULAR * strength.max(initial=0.0)
    reach = np.where(seen, 1.0 / np.sqrt(np.where(seen, strength, 1.0)), 0.0)
    return vectors * reach / size[:, None]


def standard_errors(root: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The standard errors ``(n,)``.

    Args:
        root: what `inverse_root` gave of H.
        scores: S, ``(segment, n)``.
    """
    moved = scores @ root @ root.T
    count = len(scores)
    return np.sqrt(count / (count - 1) * (moved**2).sum(axis=0) + moved.sum(axis=0) ** 2)
