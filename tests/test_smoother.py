"""Does the ensemble smoother converge to the exact one, and do its special cases agree?"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from as_written import advance_month, over_members

from enso_jax.experiments import FINITE, RecordedNoise, SeededNoise, smooth
from enso_jax.models import built_in
from enso_jax.scores import assimilated
from enso_jax.state import H_W, NAMES, T_C, T_E, TAU, U

jitted = eqx.filter_jit(smooth)

STEPS = 30
ROWS = 5 * STEPS + 5  # the noise of the steps, and that of the observations


def run(model, observations, error, noise, protocol):
    """The smoother, compiled, with NumPy arrays as its outcome."""
    outcome = jitted(model, jnp.asarray(observations), jnp.asarray(error), noise, protocol)
    return jax.tree.map(np.asarray, outcome)


def recorded(months: int, members: int, seed: int) -> RecordedNoise:
    rng = np.random.default_rng(seed)
    return RecordedNoise(jnp.asarray(rng.standard_normal((months, ROWS, members))))


@dataclasses.dataclass(frozen=True)
class Twin:
    """A truth made by the linear model itself, and its observations with the stated error."""

    truth: np.ndarray
    observations: np.ndarray
    error: np.ndarray


@pytest.fixture(scope="session")
def twin(linear) -> Twin:
    rng = np.random.default_rng(0)
    months, error = 400, np.array([0.3, 0.3, 0.4, 0.3, 0.5])
    truth, state = np.zeros((months, 5)), np.zeros(5)
    kicks = rng.multivariate_normal(np.zeros(5), linear.month_covariance(), months)
    for month in range(months):
        state = linear.month_map() @ state + kicks[month]
        truth[month] = state
    return Twin(truth, truth + error * rng.standard_normal((months, 5)), error)


@pytest.fixture(scope="session")
def gappy(twin) -> np.ndarray:
    """Five years of T_C and T_E, with a hole in one, and in both."""
    observations = assimilated(twin.observations[:60], "A")
    observations[20:23, T_C] = np.nan
    observations[40] = np.nan
    return observations


# --- The exact smoother -------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Exact:
    """Means and standard deviations ``(month, variable)`` of the exact fixed-lag smoother."""

    filtered: np.ndarray
    smoothed: np.ndarray
    filter_spread: np.ndarray
    spread: np.ndarray


def kalman_smoother(linear, observations: np.ndarray, error: np.ndarray, lag: int) -> Exact:
    """The Kalman filter of the state augmented with its own past, known to be zero at first."""
    months, size = len(observations), 5 * (lag + 1)
    F = np.eye(size, k=-5)  # every block becomes the one after it
    F[:5, :5] = linear.month_map()
    Q = np.zeros((size, size))
    Q[:5, :5] = linear.month_covariance()
    mean, P = np.zeros(size), np.zeros((size, size))
    exact = Exact(*(np.zeros((months, 5)) for _ in range(4)))
    for month, observed in enumerate(observations):
        mean, P = F @ mean, F @ P @ F.T + Q
        seen = np.flatnonzero(np.isfinite(observed))
        H = np.eye(size)[seen]
        gain = P @ H.T @ np.linalg.inv(H @ P @ H.T + np.diag(error[seen] ** 2))
        mean, P = mean + gain @ (observed[seen] - H @ mean), P - gain @ H @ P
        exact.filtered[month] = mean[:5]
        exact.filter_spread[month] = np.sqrt(np.diag(P)[:5])
        for back in range(min(lag, month) + 1):
            block = slice(5 * back, 5 * back + 5)
            exact.smoothed[month - back] = mean[block]
            exact.spread[month - back] = np.sqrt(np.diag(P)[block])
    return exact


@pytest.fixture(scope="session")
def ensembles(linear, twin, gappy, small_protocol) -> dict:
    """The smoother with 125, 1000 and 8000 members, on the same observations."""
    outcomes = {}
    for members in (125, 1000, 8000):
        protocol = small_protocol(smoother_members=members)
        noise = SeededNoise(jax.random.key(members))
        outcomes[members] = run(linear.model, gappy, twin.error, noise, protocol)
    return outcomes


@pytest.mark.parametrize("estimate", ["filtered", "smoothed"])
def test_the_mean_converges_to_the_exact_one_as_the_root_of_the_members(
    linear, twin, gappy, ensembles, estimate
):
    exact = kalman_smoother(linear, gappy, twin.error, lag=3)
    deviation = exact.filter_spread if estimate == "filtered" else exact.spread

    error = [
        np.sqrt(np.mean(((getattr(outcome, estimate) - getattr(exact, estimate)) / deviation) ** 2))
        for outcome in ensembles.values()
    ]

    # The error's root mean square over some 60 independent months is known to 1 / sqrt(120),
    # the logarithm of a ratio to 0.13, the exponent of a factor 8 to 0.13 / log 8 = 0.06.
    exponents = -np.diff(np.log(error)) / np.log(8)
    np.testing.assert_allclose(exponents, 0.5, atol=0.15)
    # In units of the exact deviation a mean errs by 1 / sqrt(N), and by as much again for each
    # observation whose gain was estimated: 2 for the filter, 8 in all for the smoother.
    gains = 2 if estimate == "filtered" else 8
    assert error[-1] < np.sqrt((1 + gains) / 8000)


def test_the_spread_is_that_of_the_exact_smoother(linear, twin, gappy, ensembles):
    exact = kalman_smoother(linear, gappy, twin.error, lag=3)

    ratio = ensembles[8000].spread / exact.spread

    # A standard deviation errs by 1 / sqrt(2 N), by sqrt(1 + 8) times that with the gains' errors
    # (as the mean does), which is 2.4%; 300 of them: four deviations.
    np.testing.assert_allclose(ratio, 1.0, atol=4 * np.sqrt(9 / 16000))
    assert ratio.mean() == pytest.approx(1.0, abs=0.01)


def test_innovations_have_the_variance_that_the_ensemble_expects(linear, twin, small_protocol):
    protocol = small_protocol(smoother_members=300)
    noise = SeededNoise(jax.random.key(1))

    innovation = run(linear.model, twin.observations, twin.error, noise, protocol).innovation

    # Innovations of a right filter are independent in time: the variance of 400 of them errs by
    # sqrt(2 / 400), their mean by 1 / sqrt(400). Ten numbers: three deviations.
    np.testing.assert_allclose(innovation.var(axis=0), 1.0, atol=3 * np.sqrt(2 / 400))
    np.testing.assert_allclose(innovation.mean(axis=0), 0.0, atol=3 / np.sqrt(400))


# --- Special cases ------------------------------------------------------------------------


def test_with_a_lag_of_zero_smoothed_is_filtered(linear, twin, gappy, small_protocol):
    outcome = run(
        linear.model, gappy, twin.error, recorded(60, 20, seed=1), small_protocol(smoother_lag=0)
    )

    np.testing.assert_array_equal(outcome.smoothed, outcome.filtered)


def test_what_is_filtered_does_not_depend_on_the_lag(linear, twin, gappy, small_protocol):
    noise = recorded(60, 20, seed=1)

    outcomes = [
        run(linear.model, gappy, twin.error, noise, small_protocol(smoother_lag=lag))
        for lag in (0, 1, 3)
    ]

    for outcome in outcomes[1:]:
        np.testing.assert_allclose(outcome.filtered, outcomes[0].filtered, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            outcome.innovation, outcomes[0].innovation, rtol=1e-11, atol=1e-11
        )


def test_the_newest_month_is_smoothed_by_itself_alone(linear, twin, gappy, small_protocol):
    outcome = run(linear.model, gappy, twin.error, recorded(60, 20, seed=1), small_protocol())

    np.testing.assert_array_equal(outcome.smoothed[-1], outcome.filtered[-1])


def test_a_smoothed_month_is_final_after_the_lag(linear, twin, gappy, small_protocol):
    noise, protocol = recorded(60, 20, seed=1), small_protocol(smoother_lag=3)
    later = gappy.copy()
    later[34:] += 1.0

    one, other = (
        run(linear.model, seen, twin.error, noise, protocol).smoothed for seen in (gappy, later)
    )

    np.testing.assert_array_equal(one[:31], other[:31])
    assert (one[31:34] != other[31:34]).all()


@pytest.mark.parametrize("months", [1, 2, 4])
def test_a_record_shorter_than_the_window_is_smoothed_too(linear, twin, small_protocol, months):
    noise, protocol = recorded(months, 20, seed=1), small_protocol(smoother_lag=3)

    outcome = run(linear.model, twin.observations[:months], twin.error, noise, protocol)

    assert outcome.smoothed.shape == outcome.spread.shape == outcome.filtered.shape == (months, 5)
    np.testing.assert_array_equal(outcome.smoothed[-1], outcome.filtered[-1])


def test_without_any_observation_the_estimate_is_the_free_ensembles_mean(small_protocol):
    model, noise = built_in("fable-5.1").build(), recorded(6, 20, seed=2)
    step = over_members(model)

    outcome = run(model, np.full((6, 5), np.nan), np.ones(5), noise, small_protocol())

    state = jnp.zeros((5, 20))
    month = jax.jit(lambda state, t, normals: advance_month(step, state, t, normals))
    for number in range(6):
        normals = noise.values[number, : 5 * STEPS].reshape(STEPS, 5, 20)
        state = month(state, jnp.asarray(float(number)), normals)
        for mean in (outcome.filtered, outcome.smoothed):
            np.testing.assert_allclose(mean[number], state.mean(-1), rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(outcome.spread[number], state.std(-1, ddof=1), rtol=1e-11)
    assert np.isnan(outcome.innovation).all()
    assert outcome.status == FINITE


def test_a_month_without_observations_keeps_its_forecast(linear, twin, gappy, small_protocol):
    """The mean of a linear model's forecast is the forecast of the mean by the mean noise."""
    noise = recorded(60, 20, seed=3)
    assert np.isnan(gappy[40]).all()

    filtered = run(linear.model, gappy, twin.error, noise, small_protocol()).filtered

    normals = noise.values[40, : 5 * STEPS].reshape(STEPS, 5, 20).mean(axis=-1)
    prior = advance_month(linear.model, jnp.asarray(filtered[39]), jnp.asarray(40.0), normals)
    np.testing.assert_allclose(filtered[40], prior, rtol=1e-11, atol=1e-12)


def test_a_missing_value_is_one_of_unbounded_error(linear, twin, small_protocol):
    noise, protocol = recorded(60, 20, seed=4), small_protocol()
    observations = twin.observations[:60]
    error = twin.error.copy()
    error[[H_W, U, TAU]] = 1e9

    missing = run(linear.model, assimilated(observations, "A"), twin.error, noise, protocol)
    vague = run(linear.model, observations, error, noise, protocol)

    np.testing.assert_allclose(missing.filtered, vague.filtered, atol=1e-6)
    np.testing.assert_allclose(missing.smoothed, vague.smoothed, atol=1e-6)


def test_an_observation_without_error_is_believed(linear, twin, small_protocol):
    observations, error = assimilated(twin.observations[:60], "A"), np.full(5, 1e-6)

    outcome = run(linear.model, observations, error, recorded(60, 20, seed=5), small_protocol())

    for seen in (T_C, T_E):
        np.testing.assert_allclose(outcome.filtered[:, seen], observations[:, seen], atol=1e-5)


def test_innovations_are_told_where_something_was_observed(linear, twin, gappy, small_protocol):
    outcome = run(linear.model, gappy, twin.error, recorded(60, 20, seed=6), small_protocol())

    np.testing.assert_array_equal(np.isfinite(outcome.innovation), np.isfinite(gappy))


def test_shuffled_members_change_nothing_but_rounding(twin, small_protocol):
    model, protocol = built_in("fable-5.1").build(), small_protocol()
    observations = assimilated(twin.observations[:24], "A")
    noise = recorded(24, 20, seed=7)
    shuffled = RecordedNoise(noise.values[..., np.random.default_rng(8).permutation(20)])

    one, other = (
        run(model, observations, twin.error, draws, protocol) for draws in (noise, shuffled)
    )

    for name in ("filtered", "smoothed", "spread"):
        scale = np.abs(getattr(one, name)).max(axis=0)
        difference = (getattr(other, name) - getattr(one, name)) / scale
        np.testing.assert_allclose(difference, 0.0, atol=1e-9)


def test_perturbations_of_the_observations_are_centred(linear, twin, gappy, small_protocol):
    """What all members' perturbations have in common would be an error of the observation."""
    noise, protocol = recorded(60, 20, seed=11), small_protocol()
    moved = RecordedNoise(noise.values.at[:, 5 * STEPS :].add(1.0))

    one, other = (run(linear.model, gappy, twin.error, draws, protocol) for draws in (noise, moved))

    np.testing.assert_allclose(other.filtered, one.filtered, rtol=1e-10, atol=1e-11)


def test_the_first_month_is_a_january(small_protocol):
    """In a model that follows the seasons the first step is taken at t = 0."""
    model, noise = built_in("fable-5.1").build(), recorded(1, 20, seed=9)

    outcome = run(model, np.full((1, 5), np.nan), np.ones(5), noise, small_protocol(smoother_lag=0))

    normals = noise.values[0, : 5 * STEPS].reshape(STEPS, 5, 20)
    january = advance_month(over_members(model), jnp.zeros((5, 20)), jnp.asarray(0.0), normals)
    np.testing.assert_allclose(outcome.filtered[0], january.mean(-1), rtol=1e-11)


def test_every_variable_has_a_column(linear, twin, gappy, small_protocol):
    outcome = run(linear.model, gappy, twin.error, recorded(60, 20, seed=1), small_protocol())

    assert outcome.filtered.shape == (60, len(NAMES))
    assert outcome.status == FINITE


# --- A run that does not stay finite ------------------------------------------------------


def test_a_run_that_overflows_tells_its_first_month_that_is_not_finite(
    linear, twin, exploding, stack, small_protocol
):
    """T_E grows by a factor 4.5e6 a month once nothing is observed that would hold it.

    A member overflows 46 months after that, its square - the covariance - in half the time.
    """
    observations = twin.observations[:80].copy()
    observations[12:] = np.nan
    protocol, noise = small_protocol(), recorded(80, 20, seed=10)

    together = eqx.filter_jit(eqx.filter_vmap(smooth, in_axes=(eqx.if_array(0), *[None] * 4)))(
        stack(linear.model, exploding, linear.model),
        jnp.asarray(observations),
        jnp.asarray(twin.error),
        noise,
        protocol,
    )

    status = together.status
    alone = run(linear.model, observations, twin.error, noise, protocol)
    assert status[0] == status[2] == FINITE
    assert 12 < status[1] < 12 + 48
    assert np.isfinite(together.filtered[1, : status[1]]).all()
    assert not np.isfinite(together.filtered[1, status[1] :]).all(axis=-1).any()
    for good in (0, 2):
        np.testing.assert_allclose(together.filtered[good], alone.filtered, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(together.smoothed[good], alone.smoothed, rtol=1e-9, atol=1e-11)
