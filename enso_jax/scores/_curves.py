"""Do the simulated curves have the observed shape and size?

Three curves of each temperature index: probability density, seasonal variance and
autocorrelation. The simulated curve is the mean over segments as long as the
observed record. With mu the simulated and o the observed curve at points p, R the
range of o and w weights (Equation 3 of the paper)::

    s = max(0, r(mu, o)) sum_p w_p exp(-((mu_p - o_p) / (0.35 R))^2 / 2) / sum_p w_p
"""

import numpy as np

from enso_jax.state import MONTHS_PER_YEAR


def segments(monthly: np.ndarray, years: int) -> np.ndarray:
    """The consecutive whole segments of a record, ``(segment, month, ...)``."""
    length = MONTHS_PER_YEAR * years
    count = len(monthly) // length
    return monthly[: count * length].reshape(count, length, *monthly.shape[1:])


def pdf(series: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Gaussian kernel density of each series ``(..., month)`` on `grid`, ``(..., point)``.

    The bandwidth is Scott's, ``sd n^(-1/5)``. A constant series has no density: zeros.
    """
    n = series.shape[-1]
    bandwidth = series.std(axis=-1, ddof=1, keepdims=True) * n**-0.2
    density = np.zeros((*series.shape[:-1], len(grid)))
    for index in np.ndindex(series.shape[:-1]):
        width = bandwidth[index][0]
        if width > 0.0:
            kernels = (grid[:, None] - series[index]) / width
            np.exp(-0.5 * kernels**2, out=kernels)
            density[index] = kernels.sum(axis=-1) / (n * width * np.sqrt(2.0 * np.pi))
    return density


def seasonal_variance(series: np.ndarray) -> np.ndarray:
    """Variance of each calendar month, ``(..., 12)``, of series ``(..., month)`` from a January.

    The unbiased estimate, over the years.
    """
    years = series.reshape(*series.shape[:-1], -1, MONTHS_PER_YEAR)
    return years.var(axis=-2, ddof=1)


def skewness(series: np.ndarray) -> np.ndarray:
    """Third moment about the mean over the cubed standard deviation, ``(...)``; 0 if constant."""
    x = series - series.mean(axis=-1, keepdims=True)
    third, second = (x**3).mean(axis=-1), (x**2).mean(axis=-1)
    return np.divide(third, second**1.5, out=np.zeros_like(third), where=second > 0.0)


def acf(series: np.ndarray, max_lag: int) -> np.ndarray:
    """Autocorrelation at lags 0 to `max_lag` months, ``(..., lag)``.

    ``r_k = sum_t x_t x_(t+k) / sum_t x_t^2``, x with its mean removed. A constant
    series has no autocorrelation: zeros.
    """
    n = series.shape[-1]
    x = series - series.mean(axis=-1, keepdims=True)
    products = np.stack(
        [(x[..., : n - k] * x[..., k:]).sum(axis=-1) for k in range(max_lag + 1)], -1
    )
    total = products[..., :1]
    return np.divide(products, total, out=np.zeros_like(products), where=total > 0.0)


def curve_score(
    simulated: np.ndarray,
    observed: np.ndarray,
    tolerance: float,
    weights: np.ndarray | None = None,
) -> float:
    """Equation 3: 1 for the observed curve itself, 0 for one of the opposite shape.

    Also 0 where the simulated curve is not finite or does not vary.
    """
    if not np.isfinite(simulated).all() or simulated.std() == 0.0:
        return 0.0
    weights = np.ones_like(observed) if weights is None else weights
    shape = np.corrcoef(simulated, observed)[0, 1]
    departure = (simulated - observed) / (tolerance * np.ptp(observed))
    size = np.average(np.exp(-0.5 * departure**2), weights=weights)
    return float(max(0.0, shape) * size)


def pdf_weights(simulated: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """The weights of a density's points: the mean of the two densities."""
    return 0.5 * (np.maximum(observed, 0.0) + np.maximum(simulated, 0.0))
