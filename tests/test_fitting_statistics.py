"""Do statistics give parameters back, by derivatives that are right?"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import red_noise
from jax.flatten_util import ravel_pytree
from twins import bits, free_values, perturbed, small_twin

from enso_jax.experiments import SeededNoise, free_run
from enso_jax.fitting import (
    LAGS,
    STATISTICS_KINDS,
    free_parameters,
    statistics,
    statistics_of,
    targets_of,
)
from enso_jax.fitting import _statistics as search
from enso_jax.fitting._chart import chart
from enso_jax.models import TermModel
from enso_jax.protocol import Protocol
from enso_jax.scores._curves import acf, seasonal_variance

#: Coarse steps, so that a test takes seconds.
PROTOCOL = Protocol(steps_per_month=6, free_run_years=1050, free_run_spin_up_years=50)
MEMBERS = 64
#: What T_C and T_E do says most about these.
IDENTIFIED = ("T_C", "T_E")


@pytest.fixture(scope="module")
def twin() -> TermModel:
    return small_twin()


@pytest.fixture(scope="module")
def targets(twin):
    run = eqx.filter_jit(free_run)(twin, SeededNoise(jax.random.key(9)), PROTOCOL)
    return targets_of(np.asarray(run.monthly))


@pytest.fixture(scope="module")
def refit(twin, targets):
    return statistics(twin, targets, protocol=PROTOCOL, seed=1, members=MEMBERS)


def identified(model: TermModel) -> TermModel:
    """The damping, the noise level and the noise slope of T_C and T_E, six numbers."""
    everything = free_parameters(model, STATISTICS_KINDS)
    nothing = jax.tree.map(np.zeros_like, everything)
    terms = tuple(
        mask if term.equation in IDENTIFIED and term.feature.text() == term.equation else none
        for term, mask, none in zip(model.terms, everything.terms, nothing.terms, strict=True)
    )
    pairs = zip(everything.amplitudes, nothing.amplitudes, strict=True)
    amplitudes = tuple(mask if mask.equation in IDENTIFIED else none for mask, none in pairs)
    return eqx.tree_at(lambda tree: (tree.terms, tree.amplitudes), nothing, (terms, amplitudes))


# --- Statistics -----------------------------------------------------------------------------


def test_statistics_are_those_that_are_scored():
    monthly = red_noise(np.random.default_rng(0), 12 * 40, 5)

    made = statistics_of(jnp.asarray(monthly))

    np.testing.assert_allclose(made.seasonal_variance.T, seasonal_variance(monthly[:, :2].T))
    np.testing.assert_allclose(made.variance, monthly.var(axis=0))
    x = monthly[:, :2] - monthly[:, :2].mean(axis=0)
    np.testing.assert_allclose(made.skewness, (x**3).mean(0) / (x**2).mean(0) ** 1.5)
    lags = np.asarray(LAGS)
    scored = acf(monthly[:, :2].T, 24)[:, lags] * len(monthly) / (len(monthly) - lags)
    np.testing.assert_allclose(made.acf.T, scored)


def test_pieces_in_any_order_have_the_same_statistics():
    pieces = jnp.asarray(red_noise(np.random.default_rng(0), 12 * 40, 5).reshape(4, 120, 5))

    one, other = statistics_of(pieces), statistics_of(pieces[::-1])

    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), one, other)


@pytest.mark.parametrize(("years", "runs"), [(35, 60), (400, 30)])
def test_the_error_of_targets_is_the_spread_over_runs(years, runs):
    rng = np.random.default_rng(1)
    made = [targets_of(red_noise(rng, 12 * years, 5)) for _ in range(runs)]

    values = np.stack([ravel_pytree(targets.statistics)[0] for targets in made])
    stated = np.stack([ravel_pytree(targets.error)[0] for targets in made]).mean(axis=0)

    ratio = stated / values.std(axis=0, ddof=1)
    assert 0.75 < np.median(ratio) < 1.25
    assert ((ratio > 0.5) & (ratio < 1.7)).all()


def test_targets_begin_with_the_first_january():
    monthly = red_noise(np.random.default_rng(2), 12 * 20 + 7, 5)

    late = targets_of(monthly, first_month=7)  # from August: five months to January

    expected = targets_of(monthly[5 : 5 + 12 * 20])
    jax.tree.map(np.testing.assert_array_equal, late.statistics, expected.statistics)


@pytest.mark.parametrize("monthly", [np.zeros((100, 5)), np.full((240, 5), np.nan)])
def test_targets_of_too_little_are_an_error(monthly):
    with pytest.raises(ValueError, match=r"fewer than|not finite"):
        targets_of(monthly)


# --- Refits ---------------------------------------------------------------------------------


def test_a_twin_is_recovered_within_its_error(twin, refit):
    free = identified(twin)

    found = refit(perturbed(twin, free, seed=3), free)

    truth = free_values(twin, free)
    difference = free_values(found.model, free) - truth
    errors = free_values(found.errors, free)
    began = free_values(perturbed(twin, free, seed=3), free) - truth
    assert found.converged
    assert len(errors) == 6
    assert (np.abs(difference) < 3.5 * errors).all()
    assert (errors < 0.3 * np.abs(truth)).all()
    assert np.median(errors / np.abs(truth)) < 0.06
    assert np.median(np.abs(began) / errors) > 3.0  # the start was not as good


def test_the_gradient_is_that_of_finite_differences(twin, targets):
    free = free_parameters(twin)
    noise = SeededNoise(jax.random.key(0)).block(jnp.asarray(0), (36, 6, 5, 8))
    wanted, error = ravel_pytree(targets.statistics)[0], ravel_pytree(targets.error)[0]
    runs = search._Runs(jnp.zeros((5, 8)), jnp.concatenate([noise, noise]), wanted, error)
    places = chart(perturbed(twin, free), free)
    certainty = jnp.asarray(search._certainty(places))
    origin = places.origin()
    rng = np.random.default_rng(0)

    def loss(z):
        return search._loss(places, z, certainty, runs)

    gradient = jax.jit(jax.grad(loss))(origin)
    value = jax.jit(loss)
    for _ in range(5):
        direction = jnp.where(places.free, rng.standard_normal(len(origin)), 0.0)
        direction = direction / jnp.linalg.norm(direction)
        h = 1e-6
        change = (value(origin + h * direction) - value(origin - h * direction)) / (2 * h)
        along = jnp.where(places.free, gradient, 0.0) @ direction
        assert float(along) == pytest.approx(float(change), rel=1e-5)


def test_both_derivatives_agree(twin, targets):
    """L's gradient, in reverse mode, is that by the departures' derivative, in forward mode."""
    free = identified(twin)
    noise = SeededNoise(jax.random.key(0)).block(jnp.asarray(0), (72, 6, 5, 8))
    wanted, error = ravel_pytree(targets.statistics)[0], ravel_pytree(targets.error)[0]
    runs = search._Runs(jnp.zeros((5, 8)), noise, wanted, error)
    places = chart(perturbed(twin, free), free)
    origin = places.origin()
    zero = jnp.zeros_like(origin)

    J = search._jacobian(places, origin, runs)
    departures = search._departures(search.trajectory(places.start, runs.start, noise), runs)
    gradient = jax.jit(jax.grad(lambda z: search._loss(places, z, zero, runs)))(origin)

    chosen = np.asarray(places.free)
    np.testing.assert_allclose(gradient[chosen], (J.T @ departures)[chosen], rtol=1e-8)


def test_a_start_that_explodes_is_refused(twin, refit):
    boundless = eqx.tree_at(lambda model: model.bound, twin, jnp.asarray(jnp.inf))
    growing = eqx.tree_at(
        lambda model: model.terms[0].coefficients, boundless, jnp.asarray([200.0])
    )

    found = refit(growing, identified(growing))

    assert not found.converged
    assert "finite" in found.note
    assert bits(found.model) == bits(growing)
    assert not any(np.any(np.asarray(leaf)) for leaf in jax.tree.leaves(found.errors))


@pytest.mark.parametrize(("length", "stuck"), [(10.0, False), (1e9, True)])
def test_a_step_that_explodes_is_halved(twin, targets, length, stuck):
    """A long first step, into growth that nothing bounds: what comes back is finite."""
    boundless = eqx.tree_at(lambda model: model.bound, twin, jnp.asarray(jnp.inf))
    free = identified(boundless)
    noise = SeededNoise(jax.random.key(0)).block(jnp.asarray(0), (72, 6, 5, 8))
    wanted, error = ravel_pytree(targets.statistics)[0], ravel_pytree(targets.error)[0]
    runs = search._Runs(jnp.zeros((5, 8)), noise, wanted, error)
    places = chart(perturbed(boundless, free), free)
    origin = places.origin()
    far = length * jnp.diag(places.free.astype(origin.dtype))
    problem = search._Problem(places, origin, far, jnp.zeros_like(origin), runs)

    long = search._search(problem)

    assert np.isfinite(np.asarray(long.place)).all()
    assert np.isfinite(long.gain)
    assert long.gain >= 0.0
    assert long.stuck == stuck


def test_what_is_not_free_keeps_every_bit(twin, refit):
    free = jax.tree.map(np.zeros_like, free_parameters(twin))
    free = eqx.tree_at(lambda tree: tree.amplitudes[0].level, free, np.asarray(True))
    start = perturbed(twin, free)

    found = refit(start, free)

    held = eqx.tree_at(
        lambda model: model.amplitudes[0].level, found.model, start.amplitudes[0].level
    )
    assert bits(held) == bits(start)
    assert bits(found.model) != bits(start)


def test_nothing_free_gives_the_start(twin, refit):
    nothing = jax.tree.map(np.zeros_like, free_parameters(twin))

    found = refit(twin, nothing)

    assert found.converged
    assert bits(found.model) == bits(twin)
