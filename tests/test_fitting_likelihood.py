"""Does the likelihood give drift and noise back, and refuse what has none?"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from twins import bits, free_values, perturbed, small_twin

from enso_jax.fitting import _likelihood, free_parameters, increments, likelihood, sample
from enso_jax.fitting._free import numbers, shaped
from enso_jax.fitting._likelihood import _stride
from enso_jax.models import TermModel
from enso_jax.protocol import Protocol
from enso_jax.state import NAMES

PROTOCOL = Protocol()
MIXING = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0],
        [0.6, 0.8, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, -0.28, 0.96, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0],
    ]
)


@pytest.fixture(scope="module")
def twin() -> TermModel:
    return small_twin()


@pytest.fixture(scope="module")
def samples(twin):
    return sample(twin, PROTOCOL, years=100)


@pytest.fixture(scope="module")
def refit(twin, samples):
    return likelihood(twin, samples, protocol=PROTOCOL)


def correlated(model: TermModel) -> TermModel:
    return TermModel(
        model.terms, model.amplitudes, phase=float(model.phase), bound=3.0, mixing=MIXING
    )


@pytest.mark.parametrize("change", [lambda model: model, correlated], ids=["plain", "correlated"])
def test_a_twin_is_recovered_within_its_error(twin, change):
    original = change(twin)
    free = free_parameters(original)
    refit = likelihood(original, sample(original, PROTOCOL, years=100), protocol=PROTOCOL)

    found = refit(perturbed(original, free), free)

    difference = np.abs(free_values(found.model, free) - free_values(original, free))
    errors = free_values(found.errors, free)
    assert (difference <= 4 * errors + 1e-9).all()
    assert (errors <= 1e-4 * np.abs(free_values(original, free))).all()
    assert found.converged
    assert found.note == ""
    assert all(share == pytest.approx(1.0) for share in found.explained.values())


def test_the_noise_of_a_linear_model_is_known_exactly(linear):
    free = free_parameters(linear.model)
    refit = likelihood(linear.model, sample(linear.model, PROTOCOL, years=20), protocol=PROTOCOL)

    found = refit(perturbed(linear.model, free), free)

    levels = [float(amplitude.level) for amplitude in found.model.amplitudes]
    np.testing.assert_allclose(levels, linear.sigma, rtol=1e-6)


def test_a_missing_drift_is_taken_for_noise(twin, samples, refit):
    """Of an equation with no drift but constant noise: its level is the mean square of both."""
    terms = tuple(
        eqx.tree_at(lambda term: term.coefficients, term, jnp.zeros_like(term.coefficients))
        if term.equation == "h_W"
        else term
        for term in twin.terms
    )
    start = eqx.tree_at(lambda model: model.terms, twin, terms)
    free = free_parameters(start, ("level",))

    found = refit(start, free)

    scale, d = float(twin.scales[2]), PROTOCOL.dt / float(twin.time_scale)
    drift = samples.drift[:, 2] / scale * float(twin.time_scale)
    expected = np.sqrt(0.05**2 + d * np.mean(drift**2))
    assert float(found.model.amplitudes[2].level) == pytest.approx(expected, rel=1e-6)
    assert found.explained["h_W"] == pytest.approx(0.0, abs=0.01)


@pytest.mark.slow
def test_the_stated_error_is_the_spread_over_runs(twin):
    """A reduced model has misfits that depend on where the original went."""
    reduced = without_nonlinear(twin)
    free = free_parameters(reduced)
    refits = [
        likelihood(reduced, sample(twin, PROTOCOL, seed=seed, years=100), protocol=PROTOCOL)(
            reduced, free
        )
        for seed in range(16)
    ]

    values = np.stack([free_values(refit.model, free) for refit in refits])
    stated = np.stack([free_values(refit.errors, free) for refit in refits]).mean(axis=0)
    uncertain = stated > 1e-6

    ratio = values.std(axis=0, ddof=1)[uncertain] / stated[uncertain]
    assert uncertain.sum() >= 5
    assert ((ratio > 0.5) & (ratio < 1.8)).all()


def without_nonlinear(model: TermModel) -> TermModel:
    terms = tuple(
        term
        if term.feature.linear
        else eqx.tree_at(lambda term: term.coefficients, term, jnp.zeros_like(term.coefficients))
        for term in model.terms
    )
    return eqx.tree_at(lambda model: model.terms, model, terms)


def test_with_constant_noise_the_drift_is_that_of_the_increments(twin, samples, refit):
    """The noise of h_W is constant, and then the likelihood is least squares."""
    reduced = without_nonlinear(twin)
    free = free_parameters(reduced, ("coefficients",))

    found = refit(reduced, free).model
    expected = increments(twin, samples)(reduced, free).model

    for term, other in zip(found.terms, expected.terms, strict=True):
        if term.equation == "h_W":
            np.testing.assert_allclose(term.coefficients, other.coefficients, rtol=1e-6)


def test_what_is_not_free_keeps_every_bit(twin, refit):
    everything = free_parameters(twin)
    rng = np.random.default_rng(1)
    free = jax.tree.map(lambda leaf: leaf & (rng.random(leaf.shape) < 0.5), everything)
    start = perturbed(twin, everything)

    found = refit(start, free)

    held = jax.tree.map(lambda old, new, free: np.where(free, old, new), start, found.model, free)
    assert bits(held) == bits(start)
    assert bits(found.model) != bits(start)


def test_nothing_free_gives_the_start(twin, refit):
    nothing = jax.tree.map(np.zeros_like, free_parameters(twin))
    start = perturbed(twin, free_parameters(twin))

    found = refit(start, nothing)

    assert found.converged
    assert bits(found.model) == bits(start)


def test_a_start_whose_noise_is_not_positive_is_refused(twin, refit):
    season = jnp.asarray([1.0, 1.4])
    start = eqx.tree_at(lambda model: model.amplitudes[1].modulation, twin, season)

    found = refit(start, free_parameters(twin))

    assert not found.converged
    assert "positive" in found.note
    assert bits(found.model) == bits(start)
    assert not any(np.any(np.asarray(leaf)) for leaf in jax.tree.leaves(found.errors))


def test_a_step_into_noise_that_is_not_positive_is_stepped_back_from(twin, samples):
    """A true amplitude that all but vanishes in summer: the far side of the optimum has none."""
    season = jnp.asarray([1.0, 0.97])
    original = eqx.tree_at(lambda model: model.amplitudes[1].modulation, twin, season)
    refit = likelihood(original, sample(original, PROTOCOL, years=100), protocol=PROTOCOL)

    found = refit(twin, free_parameters(twin))

    assert found.converged
    np.testing.assert_allclose(found.model.amplitudes[1].modulation[1], 0.97, rtol=1e-5)


def test_programs_are_compiled_once_for_all_reductions(twin, refit, monkeypatch):
    everything = free_parameters(twin)
    refit(perturbed(twin, everything), everything)
    traced = []
    one = _likelihood._of_segment
    monkeypatch.setattr(
        _likelihood, "_of_segment", lambda *inputs: traced.append(inputs) or one(*inputs)
    )

    for seed in range(3):
        rng = np.random.default_rng(seed)
        chosen = rng.random(free_values(twin, everything).size) < 0.5
        marks = numbers(everything).astype(bool)
        marks[marks] = chosen
        free = shaped(twin, marks)
        refit(perturbed(twin, free), free)

    assert not traced


@pytest.mark.parametrize("count", [10, 24_000, 120_000, 720_000])
def test_the_samples_that_give_the_curvature_see_all_seasons(count):
    phases = np.arange(0, count, _stride(count)) % 60

    assert len(set(phases.tolist())) == min(count, 60)
    assert len(NAMES) * len(phases) <= 60_000 * 5
