"""Are the noises of different equations correlated?

Their correlations are ``R_ij = Q_ij / (g_i g_j)`` at every sample. A `TermModel` has one
matrix for all states and seasons, and makes its normals by a triangle C with
``C C^T = mean R``.
"""

from typing import Final

import numpy as np
from jaxtyping import Float

#: A correlation whose mean is smaller is none. Within a step of a finer scheme the wind already
#: moves the ocean, which makes 0.02 of independent noises.
NEGLIGIBLE: Final = 0.03


def correlations(
    covariance: Float[np.ndarray, "sample variable variable"],
    g: Float[np.ndarray, "sample variable"],
) -> Float[np.ndarray, "sample variable variable"]:
    """R; an equation without noise is correlated with none."""
    product = g[:, :, None] * g[:, None, :]
    there = product > 0.0
    R = np.where(there, covariance / np.where(there, product, 1.0), 0.0)
    diagonal = np.arange(g.shape[1])
    R[:, diagonal, diagonal] = 1.0
    return R


def mixing(
    mean: Float[np.ndarray, "variable variable"],
) -> Float[np.ndarray, "variable variable"] | None:
    """C; None where all correlations are negligible."""
    if np.abs(np.tril(mean, -1)).max() < NEGLIGIBLE:
        return None
    # Cholesky's triangle, also of noises that are one and the same: their matrix is singular.
    values, vectors = np.linalg.eigh(mean)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    triangle = np.linalg.qr(root.T)[1].T
    triangle *= np.where(np.diag(triangle) < 0.0, -1.0, 1.0)
    return triangle / np.linalg.norm(triangle, axis=1, keepdims=True)


def correlation_share(R: Float[np.ndarray, "sample variable variable"]) -> float:
    """1 less the largest variance of a correlation; 1 where every one is constant."""
    return 1.0 - float(R.var(axis=0).max())
