"""How are many standard normals drawn from a key, fast?

Random bits are the Threefry-2x32 hash with 20 rounds (Salmon et al. 2011) of a counter,
keyed by the key: the same on every device, and under vmap. A normal is the inverse of the
distribution function at the middle of one of the 2^24 equal parts of (0, 1) that the bits
choose (2^53 in float64)::

    z = sqrt(2) erfinv(2 (k + 1/2) / 2^24 - 1)

`jax.random.normal` hashes in the same way but uses half of the bits, and its loop over the
rounds writes them to memory after each: here everything stays in registers, which on a CPU
is several times as fast (docs/performance.md).
"""

import math
from typing import Final

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Key, UInt32

_ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY: Final = 0x1BD11BDA


def normals(key: Key[Array, ""], shape: tuple[int, ...], dtype: str) -> Float[Array, "..."]:
    """Independent standard normals.

    Args:
        key: a `jax.random.key` (threefry).
        shape: of the result.
        dtype: float32 or float64; the two draw other numbers.
    """
    size = math.prod(shape)
    bits = _bits32(key, size) if dtype == "float32" else _bits64(key, size)
    # Else XLA would hash once for the first halves of the words and again for the second.
    return _normal(lax.optimization_barrier(bits), dtype).reshape(shape)


def threefry(
    key: UInt32[Array, "2"], counter: tuple[UInt32[Array, "*n"], UInt32[Array, "*n"]]
) -> tuple[UInt32[Array, "*n"], UInt32[Array, "*n"]]:
    """Two random words for each counter of two words."""
    keys = key[0], key[1], key[0] ^ key[1] ^ jnp.uint32(_PARITY)
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for number in range(5):
        for bits in _ROTATIONS[number % 2]:
            x = x + y
            y = x ^ ((y << jnp.uint32(bits)) | (y >> jnp.uint32(32 - bits)))
        x = x + keys[(number + 1) % 3]
        y = y + keys[(number + 2) % 3] + jnp.uint32(number + 1)
    return x, y


def _words(key: Key[Array, ""], counters: int) -> tuple[UInt32[Array, " n"], UInt32[Array, " n"]]:
    count = lax.iota(jnp.uint32, counters)
    return threefry(jax.random.key_data(key), (jnp.zeros_like(count), count))


def _bits32(key: Key[Array, ""], size: int) -> Array:
    return jnp.concatenate(_words(key, -(-size // 2)))[:size]


def _bits64(key: Key[Array, ""], size: int) -> Array:
    high, low = (word.astype(jnp.uint64) for word in _words(key, size))
    return (high << jnp.uint64(32)) | low


def _normal(bits: Array, dtype: str) -> Array:
    """The normal that each word stands for."""
    used, width = (24, 32) if dtype == "float32" else (53, 64)
    part = (bits >> bits.dtype.type(width - used)).astype(dtype)
    half = jnp.asarray(0.5**used, dtype)
    # In this order every step is exact, and symmetric about zero.
    uniform = (part * jnp.asarray(2.0, dtype) - jnp.asarray(2.0**used - 1.0, dtype)) * half
    return jnp.asarray(math.sqrt(2.0), dtype) * lax.erf_inv(uniform)
