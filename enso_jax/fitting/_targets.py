"""Which statistics does a model have to reproduce, and how well are they known?

Of the anomalies x, about the means over all that is given of a run or a record::

    seasonal variance   mean of (x - mean of the calendar month)^2, T_C and T_E
    variance            mean of x^2, all five
    skewness            mean of x^3 / (mean of x^2)^(3/2), T_C and T_E
    acf                 mean of x_t x_(t+k) / mean of x^2, T_C and T_E

Each follows from means over the years, so years may come in any number of pieces, one record
or many short runs, and pieces of different lengths can be compared: each mean is over as many
products as there are.

The sampling error is that of a delete-one jackknife over blocks of years: a block is left out
of the means, and the statistics made again.
"""

import dataclasses
from typing import Final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from enso_jax.state import MONTHS_PER_YEAR

#: Lags of the autocorrelation, months: fine where it falls, coarse where it turns.
LAGS: Final = (1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 21, 24)
#: Years of a block, beyond which El Nino has forgotten what it did.
_BLOCK_YEARS: Final = 5
#: T_C and T_E lead the state.
_INDICES: Final = 2


class Statistics(eqx.Module):
    """Statistics of monthly values; temperatures are T_C and T_E, in this order.

    Attributes:
        seasonal_variance: of each calendar month, degC^2; unbiased, over the years.
        variance: of all five, in their units squared.
        skewness: of the temperatures.
        acf: of the temperatures at `LAGS`.
    """

    seasonal_variance: Float[Array, "calendar_month temperature"]
    variance: Float[Array, " variable"]
    skewness: Float[Array, " temperature"]
    acf: Float[Array, "lag temperature"]


@dataclasses.dataclass(frozen=True)
class Targets:
    """What statistics are to be, and how well that is known.

    Attributes:
        statistics: of the run or the record.
        error: their standard errors.
        covariance: of all of them, in the order of their leaves, ``(statistic, statistic)``.
    """

    statistics: Statistics
    error: Statistics
    covariance: np.ndarray


def statistics_of(monthly: Float[Array, "*piece month variable"]) -> Statistics:
    """The statistics of all pieces together. Differentiable.

    Args:
        monthly: physical units, each piece from a January on and of whole years, longer than
            the longest lag.
    """
    by_year = _by_year(monthly)
    over_years = tuple(range(monthly.ndim - 1))
    means = jax.tree.map(lambda values: values.mean(axis=over_years), by_year)
    return _statistics(means, _years(monthly))


def covariance_of(monthly: Float[Array, "piece month variable"]) -> Float[Array, "stat stat"]:
    """The sampling covariance of `statistics_of`, from pieces that are independent."""
    by_block = jax.tree.map(lambda values: values.mean(axis=1), _by_year(monthly))
    return _jackknife(by_block, _years(monthly))


def targets_of(monthly: np.ndarray, *, first_month: int = 0) -> Targets:
    """The statistics of a long run of the original, or of an observed record.

    Whole years from the first January on are used, and for the errors whole blocks of 5 years.

    Args:
        monthly: ``(month, variable)``, physical units, with no gap; the state at the ends of
            months for a run, monthly values for a record.
        first_month: the calendar month of the first value, 0 for January.

    Raises:
        ValueError: if a value is not finite, or there are fewer than 2 blocks.
    """
    skipped = -first_month % MONTHS_PER_YEAR
    years = (len(monthly) - skipped) // MONTHS_PER_YEAR
    blocks = years // _BLOCK_YEARS
    if blocks < 2:
        raise ValueError(f"{len(monthly)} months are fewer than 2 blocks of {_BLOCK_YEARS} years")
    whole = jnp.asarray(monthly[skipped : skipped + years * MONTHS_PER_YEAR])
    if not np.isfinite(whole).all():
        raise ValueError("targets need a run without gaps: some values are not finite")

    def in_blocks(values):
        used = values[: blocks * _BLOCK_YEARS]
        return used.reshape(blocks, _BLOCK_YEARS, *values.shape[1:]).mean(axis=1)

    covariance = np.asarray(_jackknife(jax.tree.map(in_blocks, _by_year(whole)), years))
    statistics = statistics_of(whole)
    _, unravel = ravel_pytree(statistics)
    return Targets(statistics, unravel(jnp.sqrt(jnp.diag(covariance))), covariance)


# --- Means over the years -----------------------------------------------------------------


class _Moments(eqx.Module):
    """What the statistics follow from: means over the months of a year, or of many.

    `first` is that of the anomalies themselves, which vanishes over all years, but not over
    those that are left when a block is left out.
    """

    first: Float[Array, "*year variable"]
    of_month: Float[Array, "*year calendar_month temperature"]
    square: Float[Array, "*year variable"]
    cube: Float[Array, "*year temperature"]
    product: Float[Array, "*year lag temperature"]


def _years(monthly: Array) -> int:
    return monthly[..., 0].size // MONTHS_PER_YEAR


def _by_year(monthly: Float[Array, "*piece month variable"]) -> _Moments:
    """The moments of each year, ``(*piece, year, ...)``; without pieces, ``(year, ...)``."""
    months = monthly.shape[-2]
    around = tuple(range(monthly.ndim - 1))
    x = monthly - monthly.mean(axis=around, keepdims=True)
    temperatures = x[..., :_INDICES]

    def yearly(values):
        return values.reshape(*values.shape[:-2], -1, MONTHS_PER_YEAR, values.shape[-1])

    calendar = yearly(temperatures)
    departures = calendar - calendar.mean(axis=tuple(range(calendar.ndim - 2)), keepdims=True)

    def lagged(lag):
        products = temperatures[..., : months - lag, :] * temperatures[..., lag:, :]
        ends = [(0, 0)] * products.ndim
        ends[-2] = (0, lag)
        return yearly(jnp.pad(products, ends)).mean(axis=-2) * (months / (months - lag))

    return _Moments(
        yearly(x).mean(axis=-2),
        departures**2,
        yearly(x**2).mean(axis=-2),
        yearly(temperatures**3).mean(axis=-2),
        jnp.stack([lagged(lag) for lag in LAGS], axis=-2),
    )


def _statistics(moments: _Moments, years: int) -> Statistics:
    """The statistics that belong to means over `years`."""
    first = moments.first[:_INDICES]
    square, cube = moments.square[:_INDICES], moments.cube
    variance = square - first**2
    return Statistics(
        moments.of_month * (years / (years - 1)),
        moments.square - moments.first**2,
        (cube - 3.0 * first * square + 2.0 * first**3) / variance**1.5,
        (moments.product - first[None] ** 2) / variance[None],
    )


def _jackknife(by_block: _Moments, years: int) -> Float[Array, "stat stat"]:
    """The covariance from leaving out each of the blocks ``(block, ...)`` in turn."""
    count = len(by_block.square)

    def without_each(values):
        return (values.sum(axis=0, keepdims=True) - values) / (count - 1)

    left = jax.tree.map(without_each, by_block)
    made = jax.vmap(lambda moments: ravel_pytree(_statistics(moments, years))[0])(left)
    departures = made - made.mean(axis=0, keepdims=True)
    return (count - 1) / count * departures.T @ departures
