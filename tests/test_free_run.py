"""Is a free run the model's own climate?"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy_fable
import pytest
import scipy.linalg

from enso_jax.experiments import FINITE, RecordedNoise, SeededNoise, free_run
from enso_jax.models import TermModel, built_in, drift, noise
from enso_jax.state import NAMES, T_E

jitted = eqx.filter_jit(free_run)


def run(*inputs):
    """The experiment, compiled, with NumPy arrays as its outcome."""
    return jax.tree.map(np.asarray, jitted(*inputs))


#: Months whose noise is one block, as the documentation of `free_run` has it.
BLOCK = 240


def recorded(months: int, seed: int, steps: int = 30) -> RecordedNoise:
    """Noise of a run of `months`, given as numbers."""
    blocks = -(-months // BLOCK)
    rng = np.random.default_rng(seed)
    return RecordedNoise(jnp.asarray(rng.standard_normal((blocks, BLOCK, steps, 5))))


@pytest.fixture(scope="session")
def long_run(linear, small_protocol) -> np.ndarray:
    """Two thousand years of the linear model, ``(month, variable)``."""
    protocol = small_protocol(free_run_years=2010, free_run_spin_up_years=10, noise_dtype="float32")
    result = run(linear.model, SeededNoise(jax.random.key(0)), protocol)
    assert result.status == FINITE
    return np.asarray(result.monthly)


@pytest.mark.parametrize("lag", [0, 1, 3, 6, 12])
def test_variances_and_lag_covariances_are_the_exact_ones_of_a_linear_model(linear, long_run, lag):
    months = len(long_run)
    stationary = scipy.linalg.solve_discrete_lyapunov(linear.step_map, linear.step_covariance)
    exact = linear.month_map(lag) @ stationary  # of x_i(t + lag) with x_j(t)

    estimate = long_run[lag:].T @ long_run[: months - lag] / (months - lag)

    # Bartlett: n var = sum over m of C_ii(m) C_jj(m) + C_ij(m + lag) C_ji(m - lag). The slowest
    # mode decays in four months, so 60 are all. 125 covariances are compared: 4.5 deviations.
    at_lag = {m: linear.month_map(m) @ stationary for m in range(73)}
    at_lag |= {-m: covariance.T for m, covariance in at_lag.items()}
    variance = sum(
        np.outer(np.diag(at_lag[m]), np.diag(at_lag[m])) + at_lag[m + lag] * at_lag[m - lag].T
        for m in range(-60, 61)
    )
    np.testing.assert_array_less(np.abs(estimate - exact), 4.5 * np.sqrt(variance / months))


def test_the_mean_of_a_linear_model_is_zero(linear, long_run):
    # n var of a mean is the sum of the covariances at all lags: (I - F)^-1 C + its transpose - C.
    stationary = scipy.linalg.solve_discrete_lyapunov(linear.step_map, linear.step_covariance)
    half = np.linalg.solve(np.eye(5) - linear.month_map(), stationary)
    deviation = np.sqrt(np.diag(half + half.T - stationary) / len(long_run))

    np.testing.assert_array_less(np.abs(long_run.mean(axis=0)), 4.0 * deviation)


def test_a_compiled_free_run_equals_a_plain_numpy_loop(small_protocol):
    protocol = small_protocol(free_run_years=5, free_run_spin_up_years=0)
    noise = recorded(60, seed=1)

    compiled = run(built_in("fable-5.1").build(), noise, protocol).monthly

    in_months = np.asarray(noise.values[0, :60, ..., None])
    by_hand = numpy_fable.run("fable-5.1", np.zeros((5, 1)), 0.0, in_months)[..., 0]
    # An error of rounding grows tenfold within some years of a nonlinear model: 1e-8, not 1e-10.
    np.testing.assert_allclose(compiled, by_hand, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("years", [10, 13])
def test_a_run_has_a_value_for_each_month_after_its_spin_up(linear, small_protocol, years):
    protocol = small_protocol(free_run_years=years, free_run_spin_up_years=2)

    monthly = run(linear.model, recorded(12 * years, seed=2), protocol).monthly

    assert monthly.shape == (12 * (years - 2), 5)


def test_the_spin_up_is_the_part_of_the_run_that_is_dropped(linear, small_protocol):
    noise = recorded(156, seed=3)

    whole = run(linear.model, noise, small_protocol(free_run_years=13, free_run_spin_up_years=0))
    later = run(linear.model, noise, small_protocol(free_run_years=13, free_run_spin_up_years=4))

    np.testing.assert_array_equal(later.monthly, whole.monthly[48:])


def test_the_same_key_gives_the_same_numbers_and_another_key_others(linear, small_protocol):
    first, again, other = (
        run(linear.model, SeededNoise(jax.random.key(seed)), small_protocol()).monthly
        for seed in (5, 5, 6)
    )

    np.testing.assert_array_equal(first, again)
    assert not np.any(first == other)


def test_a_record_of_the_seeded_noise_gives_the_same_run(linear, small_protocol):
    protocol = small_protocol(free_run_years=13)
    seeded = SeededNoise(jax.random.key(7), "float64")
    blocks = [seeded.block(jnp.asarray(b), (BLOCK, 30, 5)) for b in range(2)]

    drawn = run(linear.model, seeded, protocol).monthly
    given = run(linear.model, RecordedNoise(jnp.stack(blocks)), protocol).monthly

    np.testing.assert_allclose(given, drawn, rtol=1e-12, atol=1e-13)


def test_the_run_begins_at_zero_on_the_first_of_january(small_protocol):
    """A model that is still but for a harmonic knows the time: dT_E/dt = cos(2 pi (t - 2)/12)."""
    still = [noise(name, 0.0) for name in NAMES]
    clock = TermModel(
        drift("T_E", {"1": {"c1": 1.0}}), still, phase=2.0, scales=[1.0] * 5, time_scale=1.0
    )
    protocol = small_protocol(free_run_years=5, free_run_spin_up_years=0)

    monthly = run(clock, recorded(60, seed=8), protocol).monthly

    steps = np.arange(60 * 30) / 30
    exact = np.cumsum(np.cos(2 * np.pi * (steps - 2) / 12) / 30)[29::30]
    np.testing.assert_allclose(monthly[:, T_E], exact, atol=1e-11)


# --- A run that does not stay finite ------------------------------------------------------


def first_month_not_finite(linear_drift: np.ndarray, sigma: np.ndarray, noise: np.ndarray) -> int:
    """The first month of a plain loop of ``x += A x dt + sigma sqrt(dt) noise`` that overflows."""
    x = np.zeros(5)
    with np.errstate(over="ignore", invalid="ignore"):
        for month, normals in enumerate(noise):
            for normal in normals:
                x = x + linear_drift @ x / 30 + sigma * np.sqrt(1 / 30) * normal
            if not np.isfinite(x).all():
                return month
    return FINITE


def test_a_run_that_overflows_tells_its_first_month_that_is_not_finite(
    linear, exploding, small_protocol
):
    protocol = small_protocol(free_run_years=10, free_run_spin_up_years=1)
    noise = recorded(120, seed=9)
    A = linear.A.copy()
    A[1] = [0.0, 20.0, 0.0, 0.0, 0.0]

    result = run(exploding, noise, protocol)

    expected = first_month_not_finite(A, linear.sigma, np.asarray(noise.values[0]))
    # T_E grows by (1 + 20/30)^30 a month: 1e308 is reached within four years, not at once.
    assert 12 < expected < 60
    assert result.status == expected
    assert np.isfinite(result.monthly[: expected - 12]).all()
    assert not np.isfinite(result.monthly[expected - 12 :]).all(axis=-1).any()


def test_an_overflow_within_the_spin_up_is_told_too(exploding, small_protocol):
    protocol = small_protocol(free_run_years=12, free_run_spin_up_years=7)

    result = run(exploding, recorded(144, seed=9), protocol)

    assert 12 < result.status < 60


def test_a_batch_survives_its_worst_member(linear, exploding, stack, small_protocol):
    protocol, noise = small_protocol(), recorded(144, seed=10)
    other = eqx.tree_at(lambda m: m.amplitudes[0].level, linear.model, jnp.asarray(0.1))
    models = [linear.model, exploding, other]

    together = eqx.filter_jit(eqx.filter_vmap(free_run, in_axes=(eqx.if_array(0), None, None)))(
        stack(*models), noise, protocol
    )

    alone = [run(model, noise, protocol) for model in models]
    assert [int(status) for status in together.status] == [int(one.status) for one in alone]
    assert [int(status) == FINITE for status in together.status] == [True, False, True]
    for good in (0, 2):
        np.testing.assert_allclose(
            together.monthly[good], alone[good].monthly, rtol=1e-12, atol=1e-13
        )
