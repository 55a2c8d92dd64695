"""Is a forecast the model's expectation, from the right state and the right month?"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy_fable
import pytest
import scipy.linalg
from as_written import advance_month, over_members

from enso_jax.experiments import FINITE, RecordedNoise, SeededNoise, forecast
from enso_jax.models import built_in
from enso_jax.state import T_E, U

jitted = eqx.filter_jit(forecast)


def run(*inputs):
    """The experiment, compiled, with NumPy arrays as its outcome."""
    return jax.tree.map(np.asarray, jitted(*inputs))


LEADS = 12
STARTS = np.array([[1.0, 2.0, -1.0, 0.5, 3.0], [-1.5, 0.3, 2.0, -0.2, -1.0]])


def recorded(starts: int, members: int, seed: int, steps: int = 30) -> RecordedNoise:
    rng = np.random.default_rng(seed)
    shape = (LEADS, starts, steps, 5, members)
    return RecordedNoise(jnp.asarray(rng.standard_normal(shape)))


def silent(starts: int, members: int, steps: int = 30) -> RecordedNoise:
    return RecordedNoise(jnp.zeros((LEADS, starts, steps, 5, members)))


def observed(starts: int, seed: int) -> jnp.ndarray:
    """States of the size of observed ones."""
    rng = np.random.default_rng(seed)
    return jnp.asarray(0.1 * rng.standard_normal((starts, 5)) * numpy_fable.SCALES)


# --- The linear model -----------------------------------------------------------------------


def test_without_noise_the_mean_is_the_eulers_map_of_the_start(linear, small_protocol):
    result = run(linear.model, jnp.asarray(STARTS), jnp.arange(2), silent(2, 20), small_protocol())

    for lead in range(1, LEADS + 1):
        exact = STARTS @ linear.month_map(lead).T
        np.testing.assert_allclose(result.mean[:, lead - 1], exact, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(result.spread, 0.0, atol=1e-12)


def test_with_ever_more_steps_the_mean_is_the_matrix_exponential(linear, small_protocol):
    leads = np.arange(1, LEADS + 1)
    exact = np.stack([STARTS @ scipy.linalg.expm(lead * linear.A).T for lead in leads], axis=1)

    def error(steps):
        protocol = small_protocol(steps_per_month=steps, forecast_members=2)
        result = run(
            linear.model, jnp.asarray(STARTS), jnp.arange(2), silent(2, 2, steps), protocol
        )
        return np.abs(np.asarray(result.mean) - exact).max()

    # Euler's scheme is of first order: twice the steps, half the error, up to the next order.
    coarse, fine = error(60), error(120)
    assert coarse / fine == pytest.approx(2.0, abs=0.05)
    assert fine < 0.01


def test_mean_and_spread_of_many_members_are_those_of_the_exact_forecast(linear, small_protocol):
    members = 4000
    protocol = small_protocol(forecast_members=members, noise_dtype="float32")

    result = run(
        linear.model,
        jnp.asarray(STARTS),
        jnp.arange(2),
        SeededNoise(jax.random.key(0)),
        protocol,
    )

    # A mean of N errs by sd / sqrt(N), a standard deviation by sd / sqrt(2 N); 120 numbers each:
    # 4.5 deviations.
    for lead in range(1, LEADS + 1):
        mean = STARTS @ linear.month_map(lead).T
        deviation = np.sqrt(np.diag(linear.month_covariance(lead)))
        z = (result.mean[:, lead - 1] - mean) / (deviation / np.sqrt(members))
        z_spread = (result.spread[:, lead - 1] - deviation) / (deviation / np.sqrt(2 * members))
        assert np.abs(z).max() < 4.5
        assert np.abs(z_spread).max() < 4.5


def test_the_error_of_the_mean_falls_with_the_root_of_the_members(linear, small_protocol):
    starts = jnp.zeros((40, 5))
    deviation = np.sqrt([np.diag(linear.month_covariance(lead)) for lead in range(1, 13)])

    def error(members):
        protocol = small_protocol(forecast_members=members)
        noise = SeededNoise(jax.random.key(members))
        result = run(linear.model, starts, jnp.arange(40) % 12, noise, protocol)
        return np.sqrt(np.mean((result.mean / deviation) ** 2))

    # 40 starts x 12 leads x 5 variables, of which leads and variables go together: at least 80
    # independent errors, whose root mean square is known to 1 / sqrt(160) = 8%. Three times that.
    for members in (25, 400):
        assert error(members) * np.sqrt(members) == pytest.approx(1.0, abs=0.24)


# --- Any model ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", numpy_fable.MODELS)
def test_a_compiled_forecast_equals_a_plain_numpy_loop(name, small_protocol):
    members, months = 6, np.array([0, 5, 11])
    initial, noise = observed(3, seed=1), recorded(3, members, seed=2)
    protocol = small_protocol(forecast_members=members)

    result = run(built_in(name).build(), initial, jnp.asarray(months), noise, protocol)

    for start, month in enumerate(months):
        first = np.repeat(np.asarray(initial[start])[:, None], members, axis=1)
        path = numpy_fable.run(name, first, (month + 1) % 12, np.asarray(noise.values[:, start]))
        np.testing.assert_allclose(result.mean[start], path.mean(-1), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(result.spread[start], path.std(-1, ddof=1), rtol=1e-8)


def test_a_start_in_december_goes_on_from_the_new_year(small_protocol):
    """The state of a start month holds at its end: December's is that of t = 12 months."""
    members = 3
    model, initial = built_in("fable-5.1").build(), observed(1, seed=3)
    noise = recorded(1, members, seed=4)
    step = over_members(model)

    result = run(model, initial, jnp.asarray([11]), noise, small_protocol(forecast_members=members))

    state = jnp.repeat(initial[0][:, None], members, axis=1)
    month = jax.jit(lambda state, t, normals: advance_month(step, state, t, normals))
    for lead in range(LEADS):
        state = month(state, jnp.asarray(12.0 + lead), noise.values[lead, 0])
        np.testing.assert_allclose(result.mean[0, lead], state.mean(-1), rtol=1e-9, atol=1e-11)


def test_forecasts_of_a_seasonal_model_depend_on_the_start_month(small_protocol):
    model, initial = built_in("fable-5.1").build(), observed(1, seed=5)
    noise = silent(1, 2)
    protocol = small_protocol(forecast_members=2)

    january, july = (
        run(model, initial, jnp.asarray([month]), noise, protocol).mean for month in (0, 6)
    )

    assert np.abs(january - july).max() > 0.1


def test_shuffled_members_change_nothing_but_rounding(small_protocol):
    model, protocol = built_in("fable-5.1").build(), small_protocol()
    noise = recorded(4, 20, seed=6)
    shuffled = RecordedNoise(noise.values[..., np.random.default_rng(7).permutation(20)])

    one, other = (
        run(model, observed(4, seed=8), jnp.arange(4), draws, protocol)
        for draws in (noise, shuffled)
    )

    np.testing.assert_allclose(other.mean, one.mean, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(other.spread, one.spread, rtol=1e-11, atol=1e-12)


def test_an_incomplete_start_is_not_forecast_and_harms_no_other(small_protocol):
    model, protocol, noise = built_in("fable-5.1").build(), small_protocol(), recorded(4, 20, 9)
    whole = observed(4, seed=10)
    holed = whole.at[1, U].set(jnp.nan).at[3].set(jnp.nan)

    reference = run(model, whole, jnp.arange(4), noise, protocol)
    result = run(model, holed, jnp.arange(4), noise, protocol)

    assert np.isnan(result.mean[[1, 3]]).all()
    assert np.isnan(result.spread[[1, 3]]).all()
    for start in (0, 2):
        np.testing.assert_array_equal(result.mean[start], reference.mean[start])
        np.testing.assert_array_equal(result.spread[start], reference.spread[start])
    np.testing.assert_array_equal(result.status, FINITE)


def test_starts_and_leads_are_the_axes(linear, small_protocol):
    result = run(
        linear.model, jnp.zeros((3, 5)), jnp.arange(3), recorded(3, 20, seed=11), small_protocol()
    )

    assert result.mean.shape == result.spread.shape == (3, LEADS, 5)
    assert result.status.shape == (3,)


# --- A forecast that does not stay finite ---------------------------------------------------


def test_a_forecast_that_overflows_tells_its_first_lead_that_is_not_finite(
    exploding, small_protocol
):
    # T_E grows by (1 + 20/30)^30 = 4.5e6 a month, and overflows beyond 1.8e308. The third
    # start is at zero, and stays there.
    initial = jnp.zeros((3, 5)).at[:2, T_E].set(jnp.asarray([1e250, 1e280]))

    result = run(exploding, initial, jnp.arange(3), silent(3, 20), small_protocol())

    growth = 30 * np.log10(1 + 20 / 30)
    largest = np.log10(np.finfo(float).max)
    # A mean over 20 members overflows with their sum.
    leads = [int((largest - np.log10(20) - power) // growth) for power in (250, 280)]
    np.testing.assert_array_equal(result.status, [*leads, FINITE])
    for start, lead in enumerate(leads):
        assert np.isfinite(result.mean[start, :lead]).all()
    assert np.isfinite(result.mean[2]).all()


def test_a_batch_survives_its_worst_member(linear, exploding, stack, small_protocol):
    protocol, noise = small_protocol(), recorded(2, 20, seed=12)
    initial, months = jnp.asarray(STARTS).at[:, T_E].set(1e300), jnp.arange(2)

    together = eqx.filter_jit(
        eqx.filter_vmap(forecast, in_axes=(eqx.if_array(0), None, None, None, None))
    )(stack(linear.model, exploding, linear.model), initial, months, noise, protocol)

    alone = run(linear.model, initial, months, noise, protocol)
    assert (together.status == FINITE).tolist() == [[True] * 2, [False] * 2, [True] * 2]
    for good in (0, 2):
        np.testing.assert_allclose(together.mean[good], alone.mean, rtol=1e-12)
