"""Is a trajectory what stepping month by month gives, and are its two derivatives the same?"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from twins import small_twin

from enso_jax.stepping import advance_month, trajectory, trajectory_with_adjoint

MONTHS, STEPS, MEMBERS = 4, 6, 3


@pytest.fixture(scope="module")
def inputs() -> tuple[jax.Array, jax.Array]:
    rng = np.random.default_rng(0)
    start = jnp.asarray(rng.standard_normal((5, MEMBERS))) * jnp.asarray(
        [[1.0], [1.0], [10.0], [0.1], [1.0]]
    )
    return start, jnp.asarray(rng.standard_normal((MONTHS, STEPS, 5, MEMBERS)), "float32")


@pytest.mark.parametrize("run", [trajectory, trajectory_with_adjoint])
def test_it_is_what_stepping_month_by_month_gives(inputs, run):
    start, noise = inputs
    state, months = start, []
    for month in range(MONTHS):
        state = advance_month(small_twin(), state, jnp.asarray(float(month)), noise[month])
        months.append(state)

    np.testing.assert_allclose(
        jax.jit(run)(small_twin(), start, noise), jnp.stack(months), rtol=1e-12, atol=1e-13
    )


def test_the_adjoint_is_the_transposed_derivative(inputs):
    start, noise = inputs
    theta, unravel = ravel_pytree((small_twin(), start))
    held = jnp.isfinite(theta)
    rng = np.random.default_rng(1)
    cotangent = jnp.asarray(rng.standard_normal((MONTHS, 5, MEMBERS)))

    def run(through):
        def states(theta):
            model, start = unravel(theta)
            return through(model, start, noise)

        return states

    forward = jax.jit(jax.jacfwd(run(trajectory)))(theta)
    backward = jax.jit(lambda theta: jax.vjp(run(trajectory_with_adjoint), theta)[1](cotangent)[0])(
        theta
    )

    expected = jnp.einsum("mvn,mvnp->p", cotangent, forward)
    scale = jnp.abs(jnp.where(held, expected, 0.0)).max()
    np.testing.assert_allclose(backward[held], expected[held], rtol=1e-9, atol=1e-12 * scale)
