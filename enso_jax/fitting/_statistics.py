"""Under which parameters does a model's own run have the statistics of the original's?

By derivatives through the simulation. An ensemble of short runs from a spun-up start, driven
by the same noise in every evaluation, has statistics s(p) that are a smooth function of the
parameters. With targets s* and their errors e::

    minimise  L(z) = 1/2 sum_k ( (s_k(z) - s*_k) / e_k )^2 + 1/2 sum_j ( (z_j - z0_j) / w_j )^2

in the coordinates z of the free numbers (`_chart`). The second sum says that each is known
beforehand to about its own size, w: it keeps at the start what the statistics do not see, and
is next to nothing beside what they do.

The search is L-BFGS, in coordinates in which the curvature, about ``J^T J + 1/w^2`` with J the
derivative of the first sum's terms, is the identity, and which are made anew every few steps.
A step into parameters under which the run explodes is halved until it does not.

The covariance of the result has that of the targets and that of the simulated statistics::

    c = H^-1 ( J^T (C + C_simulated) J + 1/w^2 ) H^-1,    H = J^T J + 1/w^2

with C and C_simulated in units of e.
"""

from typing import Final, NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from enso_jax.experiments import SeededNoise, in_precision
from enso_jax.fitting._chart import Chart, chart, in_units, moved
from enso_jax.fitting._free import shaped, with_numbers
from enso_jax.fitting._refit import Refit, Refitter, refused
from enso_jax.fitting._sandwich import inverse_root
from enso_jax.fitting._targets import Targets, covariance_of, statistics_of
from enso_jax.models import TermModel
from enso_jax.protocol import Protocol
from enso_jax.state import MONTHS_PER_YEAR, NAMES
from enso_jax.stepping import trajectory, trajectory_with_adjoint

MEMBERS: Final = 160
#: Years of each member whose statistics count.
YEARS: Final = 10
#: Years before them, in which a member forgets that it began under the parameters of the start.
_LEAD_IN_YEARS: Final = 2
#: Years from the zero state to where the members begin.
_SPIN_UP_YEARS: Final = 10
#: What the noise of these runs is told apart by from that of any grade with the same seed.
_STREAM: Final = 0x57
_MOST_STEPS: Final = 48
#: Steps in the coordinates of one place, before the curvature is taken anew.
_STEPS_TOGETHER: Final = 8
#: Those steps end where L is as flat as this; then a whole step would gain half its square.
_FLAT: Final = 0.02
#: The search has converged when such steps gain no more: 0.5 is a standard error of a parameter.
_SMALL_GAIN: Final = 0.1
#: Of a step, tried one after another.
_LENGTHS: Final = tuple(0.5**halving for halving in range(10))
#: Armijo's condition: this share of what the gradient promises has to come.
_PROMISED: Final = 1e-4
#: A number that is smaller than this is known beforehand to within this.
_LEAST_WIDTH: Final = 0.1
#: Derivatives by as many numbers are taken together.
_TOGETHER: Final = 8


class _Runs(eqx.Module):
    """What all evaluations share.

    Attributes:
        start: where the members begin.
        noise: that drives them.
        target, error: the statistics to be reproduced, and their errors, as vectors.
    """

    start: Float[Array, "variable member"]
    noise: Float[Array, "month step q member"]
    target: Float[Array, " statistic"]
    error: Float[Array, " statistic"]


def statistics(
    model: TermModel,
    targets: Targets,
    *,
    protocol: Protocol,
    seed: int = 0,
    members: int = MEMBERS,
    years: int = YEARS,
) -> Refitter:
    """Refits drift and noise to statistics of a run, by derivatives through the simulation.

    Free may be what `likelihood` refits too; `STATISTICS_KINDS` are what the statistics see
    best. A start that does not stay finite is refused.

    Args:
        model: any model of the structure that is to be refitted, for its number of normals.
        targets: what `targets_of` gave of the original's run, or of a record.
        protocol: its step length and precision.
        seed: of the noise, which no grade shares.
        members: of the ensemble.
        years: of each, after 2 years in which it adjusts to the parameters; more than 2.

    Raises:
        PrecisionError: if JAX is not in the precision that the protocol asks for.
    """
    key = jax.random.fold_in(jax.random.key(seed), _STREAM)
    noise = SeededNoise(key, protocol.noise_dtype)
    before, after = (
        _noise(noise, number, span * MONTHS_PER_YEAR, model.noise_size, members, protocol)
        for number, span in enumerate((_SPIN_UP_YEARS, _LEAD_IN_YEARS + years))
    )
    wanted = ravel_pytree(targets.statistics)[0].astype(protocol.state_dtype)
    error = ravel_pytree(targets.error)[0].astype(protocol.state_dtype)
    error = jnp.where(error > 0.0, error, jnp.ones_like(error))

    def refit(start: TermModel, free: TermModel) -> Refit:
        places = chart(in_precision(start, protocol), free)
        runs = _Runs(_spun_up(places.start, before), after, wanted, error)
        certainty = _certainty(places)
        z = places.origin()
        J = _jacobian(places, z, runs)
        if not np.isfinite(J).all():
            return refused(start, "A run of the start does not stay finite")
        steps, gain, stuck = 0, np.inf, False
        while gain > _SMALL_GAIN and steps < _MOST_STEPS:
            root = jnp.asarray(inverse_root(J.T @ J + np.diag(certainty)))
            search = _search(_Problem(places, z, root, jnp.asarray(certainty), runs))
            z, steps = z + root @ search.place, steps + search.steps
            gain, stuck = search.gain, search.stuck
            J = _jacobian(places, z, runs)
        note = "" if gain <= _SMALL_GAIN else f"After {steps} steps the fit still became better"
        if stuck:
            note = f"After {steps} steps no shorter step made the fit better"
        spread = np.asarray(_simulated_covariance(places, z, runs))
        errors = in_units(places, z, _errors(J, certainty, targets.covariance + spread, error))
        return Refit(
            with_numbers(start, moved(start, places, z)),
            shaped(start, errors),
            {},
            not note,
            steps,
            note,
        )

    return refit


def _noise(
    noise: SeededNoise, number: int, months: int, q: int, members: int, protocol: Protocol
) -> Float[Array, "month step q member"]:
    return noise.block(jnp.asarray(number), (months, protocol.steps_per_month, q, members))


# --- The simulation -----------------------------------------------------------------------


@eqx.filter_jit
def _spun_up(model: TermModel, noise: Array) -> Float[Array, "variable member"]:
    zero = jnp.zeros((len(NAMES), noise.shape[-1]), model.scales.dtype)
    return trajectory(model, zero, noise)[-1]


def _departures(monthly: Float[Array, "month variable member"], runs: _Runs) -> Array:
    """How far the statistics are from their targets, in errors of those."""
    return (ravel_pytree(statistics_of(_counted(monthly)))[0] - runs.target) / runs.error


def _counted(monthly: Float[Array, "month variable member"]) -> Float[Array, "member month v"]:
    return jnp.moveaxis(monthly[_LEAD_IN_YEARS * MONTHS_PER_YEAR :], -1, 0)


def _loss(places: Chart, z: Array, certainty: Array, runs: _Runs) -> Float[Array, ""]:
    """L, differentiable in reverse mode."""
    monthly = trajectory_with_adjoint(places.model(z), runs.start, runs.noise)
    away = jnp.where(places.free, z - places.origin(), jnp.zeros_like(z))
    return 0.5 * (jnp.sum(_departures(monthly, runs) ** 2) + jnp.sum(certainty * away**2))


def _jacobian(places: Chart, z: Array, runs: _Runs) -> np.ndarray:
    """The derivative of the departures by the free numbers, ``(statistic, number)``.

    In forward mode, because a derivative by one number costs less than a gradient.
    """
    free = np.flatnonzero(places.free)
    J = np.zeros((len(runs.target), len(z)))
    for begin in range(0, len(free), _TOGETHER):
        chosen = np.resize(free[begin : begin + _TOGETHER], _TOGETHER)
        J[:, chosen] = np.asarray(_derivatives(places, z, jnp.asarray(chosen), runs)).T
    return J


@eqx.filter_jit
def _derivatives(
    places: Chart, z: Array, chosen: Array, runs: _Runs
) -> Float[Array, "chosen statistic"]:
    def departures(z):
        return _departures(trajectory(places.model(z), runs.start, runs.noise), runs)

    def by_one(number):
        direction = jnp.zeros_like(z).at[number].set(1.0)
        return jax.jvp(departures, (z,), (direction,))[1]

    return jax.vmap(by_one)(chosen)


@eqx.filter_jit
def _simulated_covariance(places: Chart, z: Array, runs: _Runs) -> Float[Array, "stat stat"]:
    return covariance_of(_counted(trajectory(places.model(z), runs.start, runs.noise)))


def _certainty(places: Chart) -> np.ndarray:
    """``1 / w^2`` of each coordinate that is free, else 0."""
    free, signed = np.asarray(places.free), np.asarray(places.signed)
    size = np.abs(np.where(free & ~signed, np.asarray(places.origin()), 1.0))
    return np.where(free, 1.0 / np.maximum(size, _LEAST_WIDTH) ** 2, 0.0)


def _errors(
    J: np.ndarray, certainty: np.ndarray, covariance: np.ndarray, error: Array
) -> np.ndarray:
    """The standard errors of the coordinates."""
    root = inverse_root(J.T @ J + np.diag(certainty))
    inverse = root @ root.T
    scaled = covariance / np.outer(error, error)
    return np.sqrt(np.diag(inverse @ (J.T @ scaled @ J + np.diag(certainty)) @ inverse))


# --- The search ---------------------------------------------------------------------------


class _Problem(eqx.Module):
    """L about a place z, in coordinates u in which its curvature there is about the identity.

    Attributes:
        places, z: the coordinates of the numbers, and where u is 0.
        root: ``z + root u`` is the place u.
        certainty: ``1 / w^2``.
        runs: that have the statistics.
    """

    places: Chart
    z: Float[Array, " number"]
    root: Float[Array, "number number"]
    certainty: Float[Array, " number"]
    runs: _Runs

    @eqx.filter_jit
    def loss_and_gradient(self, u: Array) -> tuple[Float[Array, ""], Float[Array, " number"]]:
        """L at u, and its derivative by u."""

        def loss(u):
            return _loss(self.places, self.z + self.root @ u, self.certainty, self.runs)

        return jax.value_and_grad(loss)(u)


class _Search(NamedTuple):
    """Where some steps led.

    Attributes:
        place: u.
        steps: how many they were.
        gain: by how much they made L smaller.
        stuck: whether they ended because no length of the next made L smaller.
    """

    place: Float[Array, " number"]
    steps: int
    gain: float
    stuck: bool


def _search(problem: _Problem) -> _Search:
    """Some steps of L-BFGS, each halved until the loss falls; fewer where there is no better."""
    optimiser = optax.scale_by_lbfgs()
    u = jnp.zeros_like(problem.z)
    memory = optimiser.init(u)
    loss, gradient = problem.loss_and_gradient(u)
    first, steps = loss, 0
    while steps < _STEPS_TOGETHER and float(jnp.linalg.norm(gradient)) > _FLAT:
        # optax adds integers of 32 and 64 bits, which a strict JAX refuses.
        with jax.numpy_dtype_promotion("standard"):
            direction, memory = optimiser.update(gradient, memory, u)
        uphill = cast(Array, direction)
        for length in _LENGTHS:
            new = u - length * uphill
            new_loss, new_gradient = problem.loss_and_gradient(new)
            promised = length * float(uphill @ gradient)
            if jnp.isfinite(new_gradient).all() and new_loss <= loss - _PROMISED * promised:
                break
        else:
            return _Search(u, steps, float(first - loss), True)
        u, loss, gradient, steps = new, new_loss, new_gradient, steps + 1
    return _Search(u, steps, float(first - loss), False)
