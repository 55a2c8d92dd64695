"""Do the increments of another model give the coefficients back, and say how well?"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import bits, free_values, perturbed, small_twin

from enso_jax.fitting import KINDS, free_parameters, increments, sample
from enso_jax.models import Ramp, TermModel, built_in, drift, noise
from enso_jax.protocol import Protocol
from enso_jax.state import NAMES

PROTOCOL = Protocol()
#: Terms of the original that its printed simplified form has not.
DROPPED = ("seasonal/T_C/h_W", "seasonal/T_E/h_W", "seasonal/h_W/h_W", "seasonal/u/h_W")


@pytest.fixture(scope="module")
def twin() -> TermModel:
    return small_twin()


@pytest.fixture(scope="module")
def samples(twin):
    return sample(twin, PROTOCOL, years=200)


@pytest.fixture(scope="module")
def refit(twin, samples):
    return increments(twin, samples)


def without(model: TermModel, group: str) -> TermModel:
    """The model with the coefficients of a group's terms 0."""
    terms = tuple(
        eqx.tree_at(lambda term: term.coefficients, term, jnp.zeros_like(term.coefficients))
        if term.group.startswith(group)
        else term
        for term in model.terms
    )
    return eqx.tree_at(lambda model: model.terms, model, terms)


def test_a_twin_is_recovered_within_its_error(twin, refit):
    free = free_parameters(twin, ("coefficients",))

    found = refit(perturbed(twin, free), free)

    difference = np.abs(free_values(found.model, free) - free_values(twin, free))
    errors = free_values(found.errors, free)
    assert (difference <= 4 * errors + 1e-10).all()
    assert (errors <= 1e-8).all()
    assert found.converged
    assert all(share == pytest.approx(1.0) for share in found.explained.values())


def test_a_linear_model_is_known_exactly(linear):
    free = free_parameters(linear.model)

    found = increments(linear.model, sample(linear.model, PROTOCOL, years=50))(
        perturbed(linear.model, free), free
    )

    rows = np.stack([[term.coefficients[0] for term in found.model.terms]]).reshape(5, 5)
    np.testing.assert_allclose(rows, linear.A, rtol=1e-9)


def test_the_printed_simplified_model_is_the_refit_of_the_printed_one():
    full, printed = built_in("fable-5.1").build(), built_in("fable-5.1-simplified").build()
    reduced = full
    for group in ("nonlinear/", *DROPPED):
        reduced = without(reduced, group)
    free = free_parameters(reduced, ("coefficients",))

    found = increments(reduced, sample(full, PROTOCOL))(reduced, free)

    expected, values = coefficients(printed), coefficients(found.model)
    assert len(expected) == 34
    for name, value in expected.items():
        assert values[name] == pytest.approx(value, rel=0.05, abs=0.015), name
    assert all(values[name] == 0.0 for name in values.keys() - expected.keys())
    assert 0.85 < found.explained["u"] < 0.9


def coefficients(model: TermModel) -> dict[tuple[str, str, str], float]:
    return {
        (term.equation, term.feature.text(), harmonic): value
        for term in model.terms
        for harmonic, value in zip(term.harmonics, term.coefficients.tolist(), strict=True)
    }


def test_the_stated_error_is_the_spread_over_runs(twin):
    """A reduced model has misfits that depend on where the original went."""
    reduced = without(twin, "nonlinear/")
    free = free_parameters(reduced, ("coefficients",))
    refits = [
        increments(reduced, sample(twin, PROTOCOL, seed=seed, years=100))(reduced, free)
        for seed in range(24)
    ]

    values = np.stack([free_values(refit.model, free) for refit in refits])
    stated = np.stack([free_values(refit.errors, free) for refit in refits])
    uncertain = stated.mean(axis=0) > 1e-9  # those of an equation that lost a term

    ratio = values.std(axis=0, ddof=1)[uncertain] / stated.mean(axis=0)[uncertain]
    assert uncertain.sum() >= 3
    assert ((ratio > 0.55) & (ratio < 1.6)).all()


def test_nothing_free_gives_the_start(twin, refit):
    nothing = jax.tree.map(np.zeros_like, free_parameters(twin))
    start = perturbed(twin, free_parameters(twin, ("coefficients",)))

    found = refit(start, nothing)

    assert bits(found.model) == bits(start)
    assert not free_values(found.errors, jax.tree.map(np.ones_like, nothing)).any()


@given(seed=st.integers(0, 10_000))
def test_what_is_not_free_keeps_every_bit(twin, refit, seed):
    everything = free_parameters(twin)
    rng = np.random.default_rng(seed)
    free = jax.tree.map(lambda leaf: leaf & (rng.random(leaf.shape) < 0.5), everything)
    start = perturbed(twin, free_parameters(twin, ("coefficients", "level", "slope")), seed)

    found = refit(start, free)

    held = jax.tree.map(lambda old, new, free: np.where(free, old, new), start, found.model, free)
    assert bits(held) == bits(start)
    assert np.isfinite(free_values(found.model, free)).all()


def test_columns_that_are_the_same_share_the_coefficient(twin, samples):
    again = drift("T_C", {"T_C": -0.1, "T_C^2 [T_C > 0]": 0.5, "h_W": 0.1, "u": 0.2, "tau": 0.1})
    double = TermModel([*twin.terms, *again], twin.amplitudes)
    free = free_parameters(double, ("coefficients",))

    found = increments(double, samples)(double, free)

    values = coefficients_of(found.model, "T_C", "T_C")
    original = coefficients_of(twin, "T_C", "T_C")
    assert np.isfinite(free_values(found.model, free)).all()
    assert sum(values) == pytest.approx(sum(original), rel=1e-6)
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def coefficients_of(model: TermModel, equation: str, feature: str) -> list[float]:
    return [
        float(term.coefficients[0])
        for term in model.terms
        if (term.equation, term.feature.text()) == (equation, feature)
    ]


def test_infinite_samples_are_refused(twin, samples):
    broken = dataclasses.replace(samples, drift=samples.drift * np.nan)
    free = free_parameters(twin)

    found = increments(twin, broken)(twin, free)

    assert not found.converged
    assert found.note
    assert bits(found.model) == bits(twin)


def test_another_feature_than_that_of_the_samples_is_an_error(refit, twin):
    scale = free_parameters(twin, ("scale",))

    with pytest.raises(ValueError, match="differs from the model"):
        refit(perturbed(twin, scale), scale)


# --- What is free ---------------------------------------------------------------------------


def test_what_was_dropped_is_held():
    terms = (*drift("T_E", {"T_E": -0.3, "T_E^2/(1 + (T_E/0.4)^2)": 0.0}),)
    amplitudes = [noise(name, 0.1, {"c1": 0.2}, (Ramp("T_E", 1, 0.0, 0.2),)) for name in NAMES]
    free = free_parameters(TermModel(terms, amplitudes))

    assert free.terms[0].coefficients.all()
    assert not free.terms[1].feature.scale
    assert not free.terms[1].coefficients.any()
    assert free.amplitudes[0].modulation.tolist() == [False, True]
    assert not free.amplitudes[0].factors[0].slope
    assert not free.amplitudes[0].factors[0].floor
    assert not any(map(np.any, (free.phase, free.bound, free.scales, free.time_scale)))


def test_what_cannot_be_refitted_is_an_error(twin, refit):
    free = eqx.tree_at(lambda tree: tree.phase, free_parameters(twin), np.asarray(True))

    with pytest.raises(ValueError, match="none of"):
        refit(twin, free)
    with pytest.raises(ValueError, match="phase"):
        free_parameters(twin, ("phase",))


def test_kinds_are_told_apart(twin):
    counts = {
        kind: sum(map(np.sum, jax.tree.leaves(free_parameters(twin, (kind,))))) for kind in KINDS
    }

    assert counts == {"coefficients": 16, "scale": 1, "level": 5, "modulation": 1, "slope": 1}
