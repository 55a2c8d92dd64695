"""How do the draws of a JAX submission become reads of noise?

While its step is traced, `key` is a `NoiseKey` and the functions of `jax.random` know
it: split and fold_in give keys, draws give the next normals of the step's noise, mapped
to the distribution that was asked for. As in JAX, the same draw from the same key gives
the same numbers. Real keys go to the real functions.
"""

import functools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.scipy.special import ndtr

_DTYPE: Final = float


class UnmappedDraw(Exception):  # noqa: N818 - sends the step to the host engine
    """A draw that has no counterpart among normals."""


class NoiseTape:
    """The normals of one step, given out in the order in which they are asked for.

    Attributes:
        noise: (q,), or None in the pass that counts.
        taken: how many were given out.
    """

    def __init__(self, noise: jax.Array | None) -> None:
        self.noise = noise
        self.taken = 0

    def take(self, shape: tuple[int, ...]) -> jax.Array:
        size = math.prod(shape)
        begin, self.taken = self.taken, self.taken + size
        if self.noise is None:
            return jnp.zeros(shape, _DTYPE)
        return self.noise[begin : begin + size].reshape(shape)


class NoiseKey:
    """A key whose draws are read from a tape."""

    def __init__(self, tape: NoiseTape) -> None:
        self._tape = tape
        self._made: dict[Any, Any] = {}

    def normals(self, name: str, shape: Any) -> jax.Array:
        """Standard normals; the same for the same draw, as from a real key."""
        shape = _shape(shape)
        return self._once(("draw", name, shape), lambda: self._tape.take(shape))

    def split(self, number: Any = 2) -> "NoiseKeys":
        shape = _shape(number)
        if len(shape) != 1:
            raise UnmappedDraw("jax.random.split into a table of keys")
        return self._once(
            ("split", shape), lambda: NoiseKeys([NoiseKey(self._tape) for _ in range(shape[0])])
        )

    def fold_in(self, data: Any) -> "NoiseKey":
        if isinstance(data, Tracer):
            raise UnmappedDraw("jax.random.fold_in of a number that is not known while tracing")
        return self._once(("fold_in", int(data)), lambda: NoiseKey(self._tape))

    def _once(self, what: Any, make: Callable[[], Any]) -> Any:
        if what not in self._made:
            self._made[what] = make()
        return self._made[what]


class NoiseKeys:
    """What split gives: a row of keys."""

    def __init__(self, keys: Sequence[NoiseKey]) -> None:
        self._keys = tuple(keys)
        self.shape = (len(self._keys),)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[NoiseKey]:
        return iter(self._keys)

    def __getitem__(self, at: Any) -> Any:
        found = self._keys[operator.index(at) if not isinstance(at, slice) else at]
        return NoiseKeys(found) if isinstance(found, tuple) else found


def _shape(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, int | np.integer) else tuple(map(int, shape))


# --- Draws, with the signatures of jax.random ---------------------------------------------


def _normal(key: NoiseKey, shape: Any = (), dtype: Any = _DTYPE) -> jax.Array:
    return key.normals("normal", shape).astype(dtype)


def _uniform(
    key: NoiseKey, shape: Any = (), dtype: Any = _DTYPE, minval: Any = 0.0, maxval: Any = 1.0
) -> jax.Array:
    unit = ndtr(key.normals("uniform", shape))
    return (minval + (maxval - minval) * unit).astype(dtype)


def _bernoulli(key: NoiseKey, p: Any = 0.5, shape: Any = None) -> jax.Array:
    return _uniform(key, jnp.shape(p) if shape is None else shape) < p


def _exponential(key: NoiseKey, shape: Any = (), dtype: Any = _DTYPE) -> jax.Array:
    return (-jnp.log1p(-ndtr(key.normals("exponential", shape)))).astype(dtype)


def _laplace(key: NoiseKey, shape: Any = (), dtype: Any = _DTYPE) -> jax.Array:
    centred = ndtr(key.normals("laplace", shape)) - 0.5
    return (-jnp.sign(centred) * jnp.log1p(-2.0 * jnp.abs(centred))).astype(dtype)


def _randint(key: NoiseKey, shape: Any, minval: Any, maxval: Any, dtype: Any = int) -> jax.Array:
    unit = ndtr(key.normals("randint", shape))
    drawn = jnp.floor(minval + (maxval - minval) * unit).astype(dtype)
    return jnp.clip(drawn, minval, maxval - 1)


def _multivariate_normal(
    key: NoiseKey, mean: Any, cov: Any, shape: Any = None, dtype: Any = _DTYPE, method: str = ""
) -> jax.Array:
    batch = () if shape is None else _shape(shape)
    normals = key.normals("multivariate_normal", (*batch, jnp.shape(mean)[-1]))
    factor = jnp.linalg.cholesky(jnp.asarray(cov, _DTYPE))
    return (jnp.asarray(mean, _DTYPE) + normals @ factor.T).astype(dtype)


_DRAWS: Final[dict[str, Callable[..., Any]]] = {
    "normal": _normal,
    "uniform": _uniform,
    "bernoulli": _bernoulli,
    "exponential": _exponential,
    "laplace": _laplace,
    "randint": _randint,
    "multivariate_normal": _multivariate_normal,
    "split": lambda key, num=2: key.split(num),
    "fold_in": lambda key, data: key.fold_in(data),
    "clone": lambda key: key,
}


def teach_jax_random() -> None:
    """Makes the functions of `jax.random` take a `NoiseKey` too.

    Called before a submission is imported, since it may import the functions by name.
    """
    for name in dir(jax.random):
        real = getattr(jax.random, name)
        if callable(real) and not isinstance(real, type) and not name.startswith("_"):
            setattr(jax.random, name, _either(name, real))


def _either(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def draw(*arguments: Any, **named: Any) -> Any:
        key = arguments[0] if arguments else named.get("key")
        if not isinstance(key, NoiseKey):
            return real(*arguments, **named)
        if name not in _DRAWS:
            raise UnmappedDraw(f"jax.random.{name} has no counterpart among mapped draws")
        return _DRAWS[name](*arguments, **named)

    return draw
