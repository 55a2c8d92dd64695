"""How does all that an ensemble does over years depend on the model's parameters, fast?

By the adjoint method. With x_(k+1) = step(x_k, p) and a cotangent c of every state, that is
the derivative of some number by it::

    l_k = c_k + J_k^T l_(k+1),    J_k = d step / d x  at x_k
    d number / d p = sum_k B_k^T l_(k+1),    B_k = d step / d p  at x_k

What reverse-mode differentiation would do in every step, one small operation after another,
is done here for a whole month at once: the Jacobians J, and the sum over B. Only the
products with J^T follow one another. That is several times as fast, since a step of a
hundred members is too little work to be cut into hundreds of kernels. Of a month, only its
beginning is kept until the way back.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from enso_jax.models import Step
from enso_jax.stepping._levels import Levels, Values, in_levels

State = tuple[Float[Array, " member"], ...]


def trajectory(
    step: Step,
    start: Float[Array, "variable member"],
    noise: Float[Array, "month step q member"],
) -> Float[Array, "month variable member"]:
    """The states at the ends of consecutive months from a January on.

    Differentiable in forward mode, which for one parameter costs a few runs.

    Args:
        step: the model, its parameters in the type of the state.
        start: at the first month's beginning.
        noise: standard normals of any floating type; each month is cut into as many equal
            steps as this has.
    """
    levels = _levels(step, start, noise)
    return _through_months(levels, _Walk(levels).month, start, noise)


def trajectory_with_adjoint(
    step: Step,
    start: Float[Array, "variable member"],
    noise: Float[Array, "month step q member"],
) -> Float[Array, "month variable member"]:
    """As `trajectory`, but differentiable in reverse mode only: all parameters for one price.

    By the parameters of `step` and by `start`; the noise is taken for constant.
    """
    levels = _levels(step, start, noise)
    walk = _Walk(levels)
    month = jax.custom_vjp(walk.month)
    month.defvjp(lambda *inputs: (walk.month(*inputs), inputs), walk.back)
    return _through_months(levels, month, start, noise)


def _levels(step: Step, start: Array, noise: Array) -> Levels:
    _, steps, q, _ = noise.shape
    return in_levels(step, len(start), q, 1.0 / steps, str(start.dtype))


def _through_months(
    levels: Levels, month: Callable[..., State], start: Array, noise: Array
) -> Float[Array, "month variable member"]:
    months, steps = noise.shape[:2]
    begin, within = (jnp.arange(count, dtype=start.dtype) for count in (months, steps))
    early = jax.vmap(jax.vmap(levels.early))(begin[:, None] + within[None] / steps)
    season = jax.vmap(jax.vmap(levels.season, (None, 0)), (None, 0))(levels.fixed, early)

    def one_month(state, inputs):
        state = month(state, levels.fixed, *inputs)
        return state, jnp.stack(state)

    return lax.scan(one_month, tuple(start), (early, season, noise))[1]


class _Walk:
    """Through the steps of one month, there and back."""

    def __init__(self, levels: Levels) -> None:
        self._late = levels.late

    def month(
        self, state: State, fixed: Values, early: Values, season: Values, noise: Array
    ) -> State:
        """The state at the month's end."""

        def onward(state, inputs):
            return self._step(state, fixed, *inputs), None

        return lax.scan(onward, state, (early, season, noise))[0]

    def back(self, inputs, cotangent: State):
        """The cotangents of all that `month` was given, from that of its result."""
        state, fixed, early, season, noise = inputs

        def onward(state, inputs):
            return self._step(state, fixed, *inputs), state

        _, states = lax.scan(onward, state, (early, season, noise))
        each_step = (0, None, 0, 0, 0)
        jacobians = jax.vmap(self._jacobian, each_step)(states, fixed, early, season, noise)

        def backward(later, jacobian):
            return jnp.sum(jacobian * later[:, None], axis=0), later

        first, later = lax.scan(backward, jnp.stack(cotangent), jacobians, reverse=True)

        def all_steps(fixed, early, season):
            return jax.vmap(self._step, each_step)(states, fixed, early, season, noise)

        by_parameters = jax.vjp(all_steps, fixed, early, season)[1](
            tuple(jnp.moveaxis(later, 1, 0))
        )
        return tuple(first), *by_parameters, jnp.zeros_like(noise)

    def _step(
        self, state: State, fixed: Values, early: Values, season: Values, noise: Array
    ) -> State:
        late = jax.vmap(self._late, in_axes=(0, None, None, None, 0))
        return late(state, fixed, early, season, _normals(state, noise))

    def _jacobian(
        self, state: State, fixed: Values, early: Values, season: Values, noise: Array
    ) -> Float[Array, "new old member"]:
        """How each member's next state depends on its last."""

        def of_one(state, normals):
            def new(old):
                return jnp.stack(self._late(tuple(old), fixed, early, season, normals))

            return jax.jacfwd(new)(jnp.stack(state))

        return jax.vmap(of_one, out_axes=2)(state, _normals(state, noise))


def _normals(state: State, noise: Array) -> tuple[Array, ...]:
    return tuple(row.astype(state[0].dtype) for row in noise)
