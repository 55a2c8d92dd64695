"""Is a model that is only called run as one that is compiled?"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from as_written import advance_month, over_members

from enso_jax.experiments import (
    SeededNoise,
    forecast,
    forecast_noise,
    forecast_stepwise,
    free_run,
    free_run_stepwise,
    smooth,
    smooth_stepwise,
)
from enso_jax.models import built_in


class Called:
    """A compiled model behind the interface of one that can only be called."""

    def __init__(self, model):
        self.noise_size = model.noise_size

        @jax.jit
        def advance(ensemble, month, noise):
            def one_month(ensemble, inputs):
                ensemble = advance_month(over_members(model), ensemble, *inputs)
                return ensemble, ensemble

            months = month + jnp.arange(noise.shape[0], dtype=float)
            return jax.lax.scan(one_month, ensemble, (months, noise))[1]

        self._advance = advance

    def __call__(self, ensemble, month, noise):
        return np.asarray(self._advance(ensemble, month, noise))


@pytest.fixture(scope="module")
def model():
    return built_in("fable-5.1").build()


@pytest.fixture(scope="module")
def noise():
    return SeededNoise(jax.random.key(3), "float64")


def test_free_runs_agree(model, noise, small_protocol):
    protocol = small_protocol(free_run_years=13)
    compiled = eqx.filter_jit(free_run)(model, noise, protocol)
    called = free_run_stepwise(Called(model), noise, protocol)
    # Rounding grows along a nonlinear run.
    np.testing.assert_allclose(called.monthly, compiled.monthly, rtol=1e-7, atol=1e-9)


def test_smoothers_agree(model, noise, small_protocol, small_record):
    protocol = small_protocol()
    observations = small_record.development.values[:40].copy()
    observations[:, 2:] = np.nan
    observations[10] = np.nan
    error = np.full(5, 0.4)
    compiled = eqx.filter_jit(smooth)(
        model, jnp.asarray(observations), jnp.asarray(error), noise, protocol
    )
    called = smooth_stepwise(Called(model), observations, error, noise, protocol)
    for name in ("filtered", "smoothed", "spread", "innovation"):
        np.testing.assert_allclose(
            getattr(called, name), getattr(compiled, name), rtol=1e-8, atol=1e-10
        )


def test_forecasts_agree_start_by_start(model, noise, small_protocol, small_record):
    protocol = small_protocol()
    initial = small_record.held_out.values[:5]
    months = np.arange(5)
    compiled = eqx.filter_jit(forecast)(
        model, jnp.asarray(initial), jnp.asarray(months), noise, protocol
    )
    normals = forecast_noise(noise, 5, model.noise_size, protocol)
    for start in range(5):
        called = forecast_stepwise(
            Called(model), initial[start], months[start], normals[start], protocol
        )
        np.testing.assert_allclose(called.mean[0], compiled.mean[start], rtol=1e-9)
        np.testing.assert_allclose(called.spread[0], compiled.spread[start], rtol=1e-8)


def test_runs_that_do_not_stay_finite_end_and_say_when(exploding, noise, small_protocol):
    protocol = small_protocol(free_run_years=60)
    compiled = eqx.filter_jit(free_run)(exploding, noise, protocol)
    called = free_run_stepwise(Called(exploding), noise, protocol)
    assert called.status == compiled.status
    observations = np.full((100, 5), np.nan)
    smoothing = smooth_stepwise(Called(exploding), observations, np.ones(5), noise, protocol)
    assert 12 < smoothing.status < 60
