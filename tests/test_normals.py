"""Are the normals that drive every run normal, independent, and the same everywhere?"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from enso_jax.experiments import SeededNoise
from enso_jax.experiments._normals import _normal, normals, threefry

DTYPES = ["float32", "float64"]
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


def draw(size: int, dtype: str, seed: int = 0) -> np.ndarray:
    return np.asarray(normals(jax.random.key(seed), (size,), dtype), float)


@pytest.mark.parametrize(
    ("key", "counter", "words"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_the_hash_is_threefry_with_twenty_rounds(key, counter, words):
    """The known answers of the Random123 library."""
    found = threefry(jnp.asarray(key, "uint32"), tuple(jnp.asarray(counter, "uint32")))
    assert tuple(map(int, found)) == words


@every_dtype
def test_they_are_normal(dtype):
    assert stats.kstest(draw(400_000, dtype), "norm").pvalue > 1e-3


@every_dtype
def test_their_moments_are_those_of_a_normal(dtype):
    size = 1_000_000
    values = draw(size, dtype, seed=5)
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((values**power).mean() - moment) < 4.5 * np.sqrt(variance / size)


@every_dtype
def test_their_tails_are_those_of_a_normal(dtype):
    size = 2_000_000
    values = draw(size, dtype)
    for threshold in (3.0, 4.0):
        for tail in (values > threshold, values < -threshold):
            expected = size * stats.norm.sf(threshold)
            assert abs(tail.sum() - expected) < 5 * np.sqrt(expected)


@every_dtype
def test_neighbours_and_halves_are_independent(dtype):
    """The two words of a counter lie half a draw apart in float32."""
    size = 400_000
    values = draw(size, dtype)
    for lag in (1, 2, 32, size // 2):
        correlation = np.mean(values[lag:] * values[:-lag])
        assert abs(correlation) < 4.5 / np.sqrt(size - lag)
        assert abs(np.mean(values[lag:] ** 2 * values[:-lag] ** 2) - 1) < 4.5 * 8 / np.sqrt(size)


def test_blocks_replicates_and_experiments_are_independent():
    shape = (100_000,)
    keys = [jax.random.key(0), jax.random.fold_in(jax.random.key(0), 1), jax.random.key(1)]
    draws = [
        np.asarray(SeededNoise(key).block(jnp.asarray(number), shape), float)
        for key in keys
        for number in (0, 1)
    ]
    correlations = np.corrcoef(draws)[~np.eye(len(draws), dtype=bool)]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(shape[0])


@every_dtype
def test_the_range_is_symmetric_and_finite(dtype):
    """The extreme words stand for the extreme 2^-25 and 2^-54 of the distribution."""
    word, tail = ("uint32", 2.0**-25) if dtype == "float32" else ("uint64", 2.0**-54)
    low, high = np.asarray(_normal(jnp.asarray([0, np.iinfo(word).max], word), dtype), float)
    assert low == -high
    assert high == pytest.approx(stats.norm.isf(tail), rel=1e-4)


@every_dtype
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (0,), (2, 3, 4)])
def test_any_shape_can_be_drawn(dtype, shape):
    drawn = normals(jax.random.key(0), shape, dtype)
    assert drawn.shape == shape
    assert drawn.dtype == dtype
    assert np.isfinite(drawn).all()


@every_dtype
def test_they_are_the_same_under_vmap_and_jit(dtype):
    keys = jax.random.split(jax.random.key(3), 4)
    together = jax.jit(jax.vmap(lambda key: normals(key, (5, 3), dtype)))(keys)
    alone = jnp.stack([normals(key, (5, 3), dtype) for key in keys])
    np.testing.assert_allclose(together, alone, rtol=1e-6)
