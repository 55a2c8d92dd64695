"""Which standard normals does a submission's ``rng.normal(...)`` read?

All that is drawn is computed from standard normals that the caller gives, the same way for a
traced step and for one that runs in NumPy, so that both make the same numbers of them.
"""

import operator
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

import numpy as np
from scipy import special

from enso_jax.submissions.child._errors import CannotTrace


class SharedDraw(Exception):  # noqa: N818 - sends the step to the host engine
    """A draw of an ensemble that is not one for each member, so that members would share it."""


class Source(Protocol):
    """Where standard normals come from."""

    def take(self, shape: tuple[int, ...]) -> Any:
        """The next standard normals, of a shape."""
        ...

    def refuse(self, reason: str) -> NoReturn:
        """Says that something cannot be drawn."""
        ...


class ArraySource:
    """Recorded noise for a run in NumPy.

    Member i reads ``noise[:, i]`` in the order in which a run of that member alone would.

    Args:
        noise: ``(q, member)``, standard normals.
    """

    def __init__(self, noise: np.ndarray):
        self._noise = np.asarray(noise, float)
        self.used = 0

    def take(self, shape: tuple[int, ...]) -> np.ndarray:
        members = self._noise.shape[1]
        if members == 1:
            return self._rows(int(np.prod(shape, dtype=int)))[:, 0].reshape(shape)
        if members not in shape:
            raise SharedDraw(
                f"a draw of shape {shape} in a step of {members} members is not one for each"
            )
        axis = shape.index(members)
        rest = (*shape[:axis], *shape[axis + 1 :])
        rows = self._rows(int(np.prod(rest, dtype=int)))
        return np.ascontiguousarray(np.moveaxis(rows.reshape(*rest, members), -1, axis))

    def refuse(self, reason: str) -> NoReturn:
        raise CannotTrace(reason)

    def _rows(self, count: int) -> np.ndarray:
        start, self.used = self.used, self.used + count
        if self.used > len(self._noise):
            raise ValueError(f"the step draws more than the {len(self._noise)} normals recorded")
        return self._noise[start : self.used].copy()


class NoiseGenerator(np.random.Generator):
    """A generator whose draws are made of given standard normals.

    Args:
        source: of the normals.
    """

    def __init__(self, source: Source):
        # The base class wants a bit generator; nothing is ever drawn from it.
        super().__init__(np.random.PCG64(0))
        self._source = source

    # --- Normals ----------------------------------------------------------------------------

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:  # pyright: ignore
        return _typed(self._normals(_shape(size, out)), dtype, out)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return loc + scale * self._normals(_shape(size, None, loc, scale))

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        return np.exp(self.normal(mean, sigma, size))

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> Any:
        """By the Cholesky factor, whatever the method: the distribution is the same."""
        normals = self._normals((*_shape(size), np.shape(mean)[-1]))
        return mean + np.matmul(normals, _root(cov).T)

    # --- Sums of squares ---------------------------------------------------------------------

    def chisquare(self, df: Any, size: Any = None) -> Any:
        count = self._whole("rng.chisquare", df)
        return np.sum(np.square(self._normals((*_shape(size), count))), axis=-1)

    def standard_t(self, df: Any, size: Any = None) -> Any:
        count = self._whole("rng.standard_t", df)
        normals = self._normals((*_shape(size), count + 1))
        squares = np.sum(np.square(normals[..., 1:]), axis=-1)
        return normals[..., 0] / np.sqrt(squares / count)

    # --- By the inverse of a distribution function ----------------------------------------------

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:  # pyright: ignore
        return _typed(special.ndtr(self._normals(_shape(size, out))), dtype, out)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return low + (high - low) * special.ndtr(self._normals(_shape(size, None, low, high)))

    def integers(  # pyright: ignore
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        low, high = (0, low) if high is None else (low, high)
        count = high - low + (1 if endpoint else 0)
        uniform = special.ndtr(self._normals(_shape(size, None, low, high)))
        drawn = low + np.minimum(np.floor(uniform * count), count - 1)
        return drawn.astype(dtype)

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        shape = _shape(size)
        if not replace and shape:
            self._source.refuse("rng.choice without replacement has no counterpart in normals")
        values = np.arange(a) if np.ndim(a) == 0 else np.moveaxis(np.array(a), axis, 0)
        count = len(values)
        weights = np.full(count, 1.0 / count) if p is None else p
        uniform = special.ndtr(self._normals(shape))
        uniform = np.reshape(uniform, shape + (1,) * (values.ndim - 1))
        drawn = values[0]
        for value, bound in zip(values[1:], np.cumsum(weights), strict=False):
            drawn = np.where(np.greater_equal(uniform, bound), value, drawn)
        return drawn[()]

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return scale * _exponential(self._normals(_shape(size, None, scale)))

    def standard_exponential(  # pyright: ignore
        self, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
    ) -> Any:
        return _typed(_exponential(self._normals(_shape(size, out))), dtype, out)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        normals = self._normals(_shape(size, None, loc, scale))
        tail = np.log(2.0 * special.ndtr(-np.abs(normals)))
        return loc - scale * np.sign(normals) * tail

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        normals = self._normals(_shape(size, None, loc, scale))
        return loc + scale * (np.log(special.ndtr(normals)) - np.log(special.ndtr(-normals)))

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        normals = self._normals(_shape(size, None, loc, scale))
        return loc - scale * np.log(-np.log(special.ndtr(normals)))

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        return scale * np.sqrt(2.0 * _exponential(self._normals(_shape(size, None, scale))))

    def weibull(self, a: Any, size: Any = None) -> Any:
        return _exponential(self._normals(_shape(size, None, a))) ** (1.0 / a)

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        uniform = special.ndtr(self._normals(_shape(size, None, left, mode, right)))
        rising = left + np.sqrt(uniform * ((right - left) * (mode - left)))
        falling = right - np.sqrt((1.0 - uniform) * ((right - left) * (right - mode)))
        return np.where(uniform * (right - left) < mode - left, rising, falling)[()]

    # --- Beneath ----------------------------------------------------------------------------

    def _normals(self, shape: tuple[int, ...]) -> Any:
        normals = self._source.take(shape)
        return normals if shape else normals[()]

    def _whole(self, name: str, df: Any) -> int:
        if np.ndim(df) or not isinstance(df, int | float) or df != int(df) or not 0 < df <= 100:
            self._source.refuse(f"{name} has a counterpart only for a whole number of degrees")
        return int(df)


def _shape(size: Any, out: Any = None, *parameters: Any) -> tuple[int, ...]:
    """The shape of a draw: as asked for, else of the array given, else of the parameters."""
    if size is not None:
        return tuple(map(operator.index, size)) if np.ndim(size) else (operator.index(size),)
    if out is not None:
        return np.shape(out)
    return np.broadcast_shapes(*(np.shape(p) for p in parameters))


def _typed(values: Any, dtype: Any, out: Any) -> Any:
    dtype = np.dtype(dtype)
    values = values if values.dtype == dtype else values.astype(dtype)
    if out is None:
        return values
    out[...] = values
    return out


def _exponential(normals: Any) -> Any:
    """Standard exponentials, growing with the normals they are made of."""
    return -np.log(special.ndtr(-normals))


def _root(cov: Any) -> Any:
    """A matrix R with ``R R' = cov``; a covariance that is only semi-definite has one too."""
    try:
        return np.linalg.cholesky(cov)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(cov)
        return vectors * np.sqrt(np.maximum(values, 0.0))


def _refusing(name: str) -> Callable:
    def refuse(self: NoiseGenerator, *arguments: Any, **options: Any) -> NoReturn:
        self._source.refuse(f"rng.{name} has no counterpart among the draws made of normals")

    refuse.__name__ = name
    return refuse


for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name not in vars(NoiseGenerator):
        _base = getattr(np.random.Generator, _name)
        _refuse = _refusing(_name)
        setattr(NoiseGenerator, _name, _refuse if callable(_base) else property(_refuse))
