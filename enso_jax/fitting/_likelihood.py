"""Under which parameters are the original's increments the most likely?

Over a step d the model gives x an increment of mean f d and covariance G R G d, with G the
diagonal of its noise amplitudes g and R = mixing mixing^T. The original's has mean f0 d and
covariance Q0 d, both known exactly at each sampled state. The likelihood is therefore not that
of one draw of the original's noise, but its expectation over all of them::

    minimise  mean_n [ sum_i log g_i + 1/2 sum_ij P_ij (Q0_ij + r_i r_j d) / (g_i g_j) ]
    r = f - f0,   P = R^-1

nondimensional. It is what infinitely many draws at each of the states would give, without
their sampling error: what is uncertain is only which states were visited. For independent
noises P is the identity. The mixing is held.

The search is L-BFGS with a line search for Wolfe's conditions, in coordinates in which the
information at the start is the identity: the curvature there, had the start made the samples.
"""

import math
from typing import Final, NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from enso_jax.experiments import in_precision
from enso_jax.fitting._chart import Chart, chart, in_units, moved
from enso_jax.fitting._free import shaped, with_numbers
from enso_jax.fitting._refit import Refit, Refitter, refused
from enso_jax.fitting._samples import Samples
from enso_jax.fitting._sandwich import in_segments, inverse_root, standard_errors
from enso_jax.models import TermModel
from enso_jax.protocol import Protocol
from enso_jax.state import NAMES

_MOST_STEPS: Final = 100
#: The search ends where no direction of curvature 1 is steeper than this...
_FLAT: Final = 1e-8
#: ... and has converged where none is steeper than this, some 1/1000 of a standard error.
_CONVERGED: Final = 1e-5
#: As many samples give the curvature, since what they average hardly varies.
_FOR_CURVATURE: Final = 10_000
_NO_LIKELIHOOD: Final = (
    "The start has no likelihood: its noise is not positive at every sample, or not all is finite"
)


class _Evidence(eqx.Module):
    """What the original does, nondimensional; axes ``(segment, sample, ...)``."""

    state: Float[Array, "segment sample variable"]
    t: Float[Array, "segment sample"]
    drift: Float[Array, "segment sample variable"]
    covariance: Float[Array, "segment sample variable variable"]
    weight: Float[Array, "segment sample"]


def likelihood(model: TermModel, samples: Samples, *, protocol: Protocol) -> Refitter:
    """Refits drift and noise to the increments of another model.

    Free may be drift coefficients, the scales in features, noise levels, modulations and the
    slopes of noise factors. A start whose noise is not positive at all samples, or that is
    infinite there, is refused.

    Args:
        model: any model of the structure that is to be refitted, for its units.
        samples: of the original.
        protocol: its step length and precision.

    Raises:
        PrecisionError: if JAX is not in the precision that the protocol asks for.
    """
    evidence = in_precision(_evidence(model, samples), protocol)
    stride = _stride(len(samples.t))
    thinned = jax.tree.map(lambda values: values[:, ::stride], evidence)
    d = jnp.asarray(protocol.dt / float(model.time_scale), evidence.t.dtype)

    def refit(start: TermModel, free: TermModel) -> Refit:
        places = chart(in_precision(start, protocol), free)
        origin = places.origin()
        own = _as_if_of(places.start, thinned)
        first = np.asarray(_curvature(places, origin, own, d))
        if not np.isfinite(first).all() or not np.isfinite(_loss(places, origin, evidence, d)):
            return refused(start, _NO_LIKELIHOOD)
        root = jnp.asarray(inverse_root(first))
        search = _search(places, root, evidence, d)
        z = origin + root @ search.place
        last = np.asarray(_curvature(places, z, thinned, d))
        scores = np.asarray(_scores(places, z, evidence, d))
        if not (np.isfinite(last).all() and np.isfinite(scores).all()):
            return refused(start, "The search left the models that have a likelihood")
        errors = in_units(places, z, standard_errors(inverse_root(last), scores))
        converged = bool(search.steepness < _CONVERGED)
        return Refit(
            with_numbers(start, moved(start, places, z)),
            shaped(start, errors),
            _explained(places.model(z), evidence),
            converged,
            int(search.steps),
            "" if converged else f"No maximum was found in {int(search.steps)} steps",
        )

    return refit


def _stride(count: int) -> int:
    """From one of the samples that give the curvature to the next.

    It shares no factor with the samples of a year, 12 months of a divisor of 30 each: else
    they would all be from a few days of the year, and see no seasons.
    """
    stride = max(1, count // _FOR_CURVATURE)
    while math.gcd(stride, 30) > 1:
        stride += 1
    return stride


def _evidence(model: TermModel, samples: Samples) -> _Evidence:
    cut, weight = in_segments(samples)
    scales, time_scale = np.asarray(model.scales), float(model.time_scale)
    return _Evidence(
        jnp.asarray(cut.state),
        jnp.asarray(cut.t),
        jnp.asarray(cut.drift / scales * time_scale),
        jnp.asarray(cut.covariance / np.outer(scales, scales) * time_scale),
        jnp.asarray(weight),
    )


# --- The likelihood -----------------------------------------------------------------------


def _of_segment(model: TermModel, part: _Evidence, d: Float[Array, ""]) -> Float[Array, ""]:
    """Minus the log likelihood of one segment, summed over its samples.

    Infinite where a noise amplitude is not positive, with a finite gradient.
    """
    misfit = jax.vmap(model.drift)(part.state, part.t) - part.drift
    g = jax.vmap(model.diffusion)(part.state, part.t)
    positive = g > 0.0
    g = jnp.where(positive, g, jnp.ones_like(g))
    inverse = jnp.linalg.inv(_mixing(model))
    precision = inverse.T @ inverse
    second = part.covariance + d * misfit[:, :, None] * misfit[:, None, :]
    distance = jnp.einsum("ij,nij,ni,nj->n", precision, second, 1.0 / g, 1.0 / g)
    value = jnp.sum(jnp.log(g), axis=-1) + 0.5 * distance
    return jnp.sum(jnp.where(positive.all(axis=-1), value, jnp.inf) * part.weight)


def _mixing(model: TermModel) -> Float[Array, "variable variable"]:
    return jnp.eye(len(NAMES), dtype=model.scales.dtype) if model.mixing is None else model.mixing


def _mean(places: Chart, z: Array, evidence: _Evidence, d: Array) -> Float[Array, ""]:
    """Minus the log likelihood of a sample, segment after segment to keep little in memory."""
    model = places.model(z)
    one = jax.checkpoint(lambda part: _of_segment(model, part, d))
    return jnp.sum(jax.lax.map(one, evidence)) / jnp.sum(evidence.weight)


_loss = eqx.filter_jit(_mean)


@eqx.filter_jit
def _curvature(
    places: Chart, z: Array, evidence: _Evidence, d: Array
) -> Float[Array, "number number"]:
    return jax.hessian(lambda z: _mean(places, z, evidence, d))(z)


@eqx.filter_jit
def _as_if_of(model: TermModel, evidence: _Evidence) -> _Evidence:
    """What `model` does itself at the states that the original visits."""

    def covariance(state, t):
        root = model.diffusion(state, t)[:, None] * _mixing(model)
        return root @ root.T

    over_samples = jax.vmap(jax.vmap(covariance))(evidence.state, evidence.t)
    drift = _drift(model, evidence)
    return _Evidence(evidence.state, evidence.t, drift, over_samples, evidence.weight)


@eqx.filter_jit
def _scores(
    places: Chart, z: Array, evidence: _Evidence, d: Array
) -> Float[Array, "segment number"]:
    """The derivative of each segment's share of the mean."""

    def of_segment(part):
        return jax.grad(lambda z: _of_segment(places.model(z), part, d))(z)

    return jax.lax.map(of_segment, evidence) / jnp.sum(evidence.weight)


def _explained(model: TermModel, evidence: _Evidence) -> dict[str, float]:
    drift = np.asarray(_drift(model, evidence))
    weight = np.asarray(evidence.weight)[..., None]
    original = np.asarray(evidence.drift)
    mean = (original * weight).sum((0, 1)) / weight.sum()
    variance = ((original - mean) ** 2 * weight).sum((0, 1))
    misfit = ((drift - original) ** 2 * weight).sum((0, 1))
    return {
        name: float(1.0 - misfit[i] / variance[i])
        for i, name in enumerate(NAMES)
        if variance[i] > 0.0
    }


@eqx.filter_jit
def _drift(model: TermModel, evidence: _Evidence) -> Float[Array, "segment sample variable"]:
    return jax.vmap(jax.vmap(model.drift))(evidence.state, evidence.t)


# --- The search ---------------------------------------------------------------------------


class _Search(NamedTuple):
    """Where a search is; `steepness` is the length of the gradient."""

    place: Float[Array, " number"]
    memory: optax.OptState
    steepness: Float[Array, ""]
    steps: Int[Array, ""]


@eqx.filter_jit
def _search(places: Chart, root: Array, evidence: _Evidence, d: Array) -> _Search:
    """The minimum, in coordinates in which the curvature at the start is the identity."""
    origin = places.origin()

    def loss(place):
        return _mean(places, origin + root @ place, evidence, d)

    optimiser = optax.lbfgs()
    value_and_gradient = optax.value_and_grad_from_state(loss)

    def one_step(search: _Search) -> _Search:
        value, gradient = value_and_gradient(search.place, state=search.memory)
        # optax adds integers of 32 and 64 bits, which a strict JAX refuses.
        with jax.numpy_dtype_promotion("standard"):
            updates, memory = optimiser.update(
                gradient, search.memory, search.place, value=value, grad=gradient, value_fn=loss
            )
        place = search.place + cast(Array, updates)
        steepness = jnp.linalg.norm(optax.tree.get(memory, "grad"))
        return _Search(place, memory, steepness, search.steps + 1)

    def unfinished(search: _Search) -> Array:
        return (search.steps < _MOST_STEPS) & (search.steepness > _FLAT)

    start = jnp.zeros_like(origin)
    first = _Search(start, optimiser.init(start), jnp.asarray(jnp.inf, start.dtype), jnp.asarray(0))
    return jax.lax.while_loop(unfinished, one_step, first)
