"""How fast can one core draw standard normals? By xoshiro256++ and a ziggurat of 256 layers.

The ziggurat (Marsaglia & Tsang 2000) covers the density with layers of equal area: in 99 of
100 draws one integer gives layer, sign and value by a look-up and a multiplication. Measured
beside numba's own `np.random.standard_normal`, it is the faster one: `enso-jax benchmark
--only floor` prints both. Needs numba.
"""

import math
from typing import Final

import numba
import numpy as np

_LAYERS: Final = 256
#: Where the tail begins, and the area of every layer, of a ziggurat with 256 layers.
_TAIL: Final = 3.6541528853610088
_AREA: Final = 0.00492867323399
_MANTISSA: Final = 2.0**52


def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each layer: the integers that are accepted at once, their unit, and the density.

    Layer 0 is the widest, with the tail; the others follow from the tail inwards to zero.
    """
    edges = np.empty(_LAYERS + 1)
    edges[0] = _AREA / math.exp(-0.5 * _TAIL**2)
    edges[1] = _TAIL
    for layer in range(2, _LAYERS):
        below = math.exp(-0.5 * edges[layer - 1] ** 2)
        edges[layer] = math.sqrt(-2.0 * math.log(_AREA / edges[layer - 1] + below))
    edges[_LAYERS] = 0.0
    accepted = (edges[1:] / edges[:-1] * _MANTISSA).astype(np.uint64)
    return accepted, edges[:-1] / _MANTISSA, np.exp(-0.5 * edges**2)


_ACCEPTED, _UNIT, _DENSITY = _tables()


def generator(seed: int) -> np.ndarray:
    """The state of a generator, four words, for `fill`, which changes it."""
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


@numba.njit(inline="always")
def _next(a, b, c, d):
    """One turn of xoshiro256++: 64 random bits, and the four words after it."""
    total = a + d
    bits = ((total << np.uint64(23)) | (total >> np.uint64(41))) + a
    shifted = b << np.uint64(17)
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = (d << np.uint64(45)) | (d >> np.uint64(19))
    return bits, a, b, c, d


@numba.njit(inline="always")
def _uniform(bits):
    """In (0, 1], so that its logarithm is finite."""
    return (float(bits >> np.uint64(11)) + 1.0) * 2.0**-53


@numba.njit
def _seldom(layer, value, words):
    """A draw that its integer does not settle, one in a hundred: whether it stands, and it."""
    a, b, c, d = words[0], words[1], words[2], words[3]
    if layer > 0:
        bits, a, b, c, d = _next(a, b, c, d)
        words[0], words[1], words[2], words[3] = a, b, c, d
        low, high = _DENSITY[layer], _DENSITY[layer + 1]
        return low + _uniform(bits) * (high - low) < math.exp(-0.5 * value * value), value
    while True:
        first, a, b, c, d = _next(a, b, c, d)
        second, a, b, c, d = _next(a, b, c, d)
        beyond = -math.log(_uniform(first)) / _TAIL
        if -2.0 * math.log(_uniform(second)) > beyond * beyond:
            words[0], words[1], words[2], words[3] = a, b, c, d
            return True, math.copysign(_TAIL + beyond, value)


@numba.njit
def fill(normals, words):
    """Standard normals into every element of the one-dimensional `normals`."""
    a, b, c, d = words[0], words[1], words[2], words[3]
    number = 0
    while number < len(normals):
        bits, a, b, c, d = _next(a, b, c, d)
        layer = np.int64(bits & np.uint64(255))
        integer = (bits >> np.uint64(8)) & np.uint64(0x000FFFFFFFFFFFFF)
        value = np.int64(integer) * _UNIT[layer]
        if bits >> np.uint64(63):
            value = -value
        if integer >= _ACCEPTED[layer]:
            words[0], words[1], words[2], words[3] = a, b, c, d
            stands, value = _seldom(layer, value, words)
            a, b, c, d = words[0], words[1], words[2], words[3]
            if not stands:
                continue
        normals[number] = value
        number += 1
    words[0], words[1], words[2], words[3] = a, b, c, d


@numba.njit
def fill_by_numba(normals):
    """The same by numba's own generator."""
    for number in range(len(normals)):
        normals[number] = np.random.standard_normal()  # noqa: NPY002 - numba compiles no other
