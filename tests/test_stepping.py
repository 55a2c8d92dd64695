"""Is a step that is taken apart still the same step?"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from as_written import advance_month as as_written
from as_written import over_members

from enso_jax.models import Multiscale, Step, built_in
from enso_jax.stepping import Months, advance_month
from enso_jax.stepping._cells import MOST_CELLS, by_cells
from enso_jax.stepping._levels import in_levels
from enso_jax.stepping._trigonometry import cosine, sine

STEPS, MEMBERS = 4, 3
SCALES = np.array([1.0, 1.0, 10.0, 0.1, 2.0])


def inputs(q: int, variables: int = 5, members: int = MEMBERS) -> tuple[jax.Array, jax.Array]:
    """An ensemble ``(v, N)`` and noise ``(step, q, N)``."""
    rng = np.random.default_rng(0)
    scales = np.append(SCALES, 1.0)[:variables, None]
    state = jnp.asarray(scales * np.abs(rng.standard_normal((variables, members))))
    return state, jnp.asarray(rng.standard_normal((STEPS, q, members)))


class Written(Step):
    """A step given as a function of state, t, dt, noise and a matrix."""

    matrix: jax.Array
    function: object = eqx.field(static=True)
    noise_size: int = eqx.field(static=True, default=5)

    def __call__(self, state, t, dt, noise):
        return self.function(self.matrix, state, t, dt, noise)


def by_matrix(A, x, t, dt, noise):
    return x + dt * (A @ x) + jnp.sqrt(dt) * noise


def by_einsum(A, x, t, dt, noise):
    seasons = jnp.stack([jnp.ones_like(t), jnp.cos(0.5 * t), jnp.sin(0.5 * t)])
    return x + dt * jnp.einsum("ij,j,k->i", A, x, seasons) + noise


def by_updates(A, x, t, dt, noise):
    x = x.at[1].add(dt * x[0] * x[2]).at[jnp.array([3, 4])].multiply(0.9)
    return jnp.concatenate([x[:2][::-1], x[2:]]) + dt * noise


def by_reductions(A, x, t, dt, noise):
    energy = jnp.sum(A * A, axis=1).max() + jnp.prod(1 + 0.1 * x) + jnp.min(x)
    return x / (1 + energy) + jnp.mean(noise) + jnp.transpose(A)[0] * jnp.linalg.norm(x)


def by_lookup(A, x, t, dt, noise):
    month = jnp.floor(t).astype(int) % 5
    return x + dt * A[month] + jnp.where(month == 2, noise, 0.5 * noise)


def by_loop(A, x, t, dt, noise):
    def half(_, x):
        return x + 0.5 * dt * (A @ jnp.tanh(x))

    return jax.lax.fori_loop(0, 2, half, x) + noise


def by_condition(A, x, t, dt, noise):
    return jax.lax.cond(x[1] > 0.5, lambda x: 0.5 * x, lambda x: x + 1.0, x) + noise


def by_network(A, x, t, dt, noise):
    hidden = jnp.tanh(jnp.ones((80, 5)) @ (A @ x) / 80)
    return x + dt * jnp.ones((5, 80)) @ jax.nn.softplus(hidden) + noise


def by_own_derivative(A, x, t, dt, noise):
    return jnp.logaddexp(x, A @ x) + jax.nn.relu(noise) * jnp.sinc(t)


WAYS = [
    by_matrix,
    by_einsum,
    by_updates,
    by_reductions,
    by_lookup,
    by_loop,
    by_condition,
    by_network,
    by_own_derivative,
]


def written(function: object) -> Written:
    matrix = 0.3 * np.random.default_rng(1).standard_normal((5, 5))
    return Written(jnp.asarray(matrix), function)


@pytest.mark.parametrize("name", ["fable-5.1", "fable-5.1-simplified", "multiscale-5"])
@pytest.mark.parametrize("month", [0.0, 7.0, 25_001.0])
def test_a_built_in_model_is_the_same(name, month):
    model, (state, noise) = built_in(name).build(), inputs(5)

    fast = jax.jit(advance_month)(model, state, jnp.asarray(month), noise)

    slow = as_written(over_members(model), state, jnp.asarray(month), noise)
    np.testing.assert_allclose(fast, slow, rtol=1e-11)


@pytest.mark.parametrize("function", WAYS, ids=lambda function: function.__name__)
def test_a_step_is_the_same_however_it_is_written(function):
    model, (state, noise) = written(function), inputs(5)

    fast = jax.jit(advance_month)(model, state, jnp.asarray(3.0), noise)

    slow = as_written(over_members(model), state, jnp.asarray(3.0), noise)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)
    assert not np.allclose(fast, state)


@pytest.mark.parametrize("function", WAYS, ids=lambda function: function.__name__)
def test_so_it_is_for_a_single_state(function):
    model, (state, noise) = written(function), inputs(5)

    fast = jax.jit(advance_month)(model, state[:, 0], jnp.asarray(3.0), noise[..., 0])

    slow = as_written(model, state[:, 0], jnp.asarray(3.0), noise[..., 0])
    np.testing.assert_allclose(fast, slow, rtol=1e-12)


def test_a_state_of_six_variables_is_the_same():
    model, (state, noise) = Multiscale(), inputs(6, variables=6)

    fast = jax.jit(advance_month)(model, state, jnp.asarray(5.0), noise)

    np.testing.assert_allclose(
        fast, as_written(over_members(model), state, jnp.asarray(5.0), noise), rtol=1e-12
    )


def test_a_step_without_noise_is_the_same():
    model = Written(jnp.eye(5), lambda A, x, t, dt, noise: x + dt * (A @ x), noise_size=0)
    state, noise = inputs(0)

    np.testing.assert_allclose(
        jax.jit(advance_month)(model, state, jnp.asarray(0.0), noise),
        state * (1 + 1 / STEPS) ** STEPS,
        rtol=1e-14,
    )


@pytest.mark.parametrize("function", WAYS, ids=lambda function: function.__name__)
def test_a_stack_of_models_is_each_of_them(function):
    models, (state, noise) = [written(function) for _ in range(2)], inputs(5)
    models[1] = eqx.tree_at(lambda model: model.matrix, models[1], 0.5 * models[1].matrix)
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)

    together = jax.jit(jax.vmap(advance_month, (0, None, None, None)))(
        stacked, state, jnp.asarray(3.0), noise
    )

    for one, model in zip(together, models, strict=True):
        alone = advance_month(model, state, jnp.asarray(3.0), noise)
        np.testing.assert_allclose(one, alone, rtol=1e-12)


def test_its_gradient_is_the_same():
    state, noise = inputs(5)

    def loss(advance, matrix):
        model = Written(matrix, by_einsum)
        return jnp.sum(advance(model, state, jnp.asarray(1.0), noise) ** 2)

    matrix = written(by_einsum).matrix
    fast = jax.grad(lambda matrix: loss(advance_month, matrix))(matrix)

    def plain(model, *rest):
        return as_written(over_members(model), *rest)

    np.testing.assert_allclose(fast, jax.grad(lambda m: loss(plain, m))(matrix), rtol=1e-10)


def test_a_nan_stays_a_nan():
    state, noise = inputs(5)
    after = advance_month(built_in("fable-5.1").build(), state * jnp.nan, jnp.asarray(0.0), noise)
    assert np.isnan(after).all()


# --- What is done before the run ----------------------------------------------------------


def levels(function: object):
    return in_levels(written(function), 5, 5, 1 / STEPS, "float64")


def season(parts, before):
    return parts.season(parts.fixed, before)


def primitives(function, *arguments) -> set[str]:
    return {equation.primitive.name for equation in jax.make_jaxpr(function)(*arguments).eqns}


def test_no_step_computes_a_cosine_or_looks_anything_up():
    for function, costly in ((by_einsum, {"cos", "sin"}), (by_lookup, {"floor", "rem"})):
        parts = levels(function)
        before = parts.early(jnp.asarray(3.0))
        state = tuple(jnp.ones(5))

        late = primitives(parts.late, state, parts.fixed, before, season(parts, before), state)

        assert not late & (costly | {"gather", "dynamic_slice", "div", "floor"})
        assert len(before.scalars) + len(before.others) > 0


def test_a_matrix_product_is_made_of_its_numbers():
    parts = levels(by_matrix)
    state = tuple(jnp.ones(5))
    before = parts.early(jnp.asarray(0.0))

    late = primitives(parts.late, state, parts.fixed, before, season(parts, before), state)

    assert "dot_general" not in late
    assert {"mul", "add"} <= late


def test_large_arrays_are_left_whole():
    parts = levels(by_network)
    state = tuple(jnp.ones(5))
    assert 80 * 5 > MOST_CELLS
    before = parts.early(jnp.asarray(0.0))
    assert "dot_general" in primitives(
        parts.late, state, parts.fixed, before, season(parts, before), state
    )


def test_what_is_early_is_made_for_all_steps_of_all_months():
    months = Months(written(by_einsum), STEPS, "float64")
    early = months.early(jnp.asarray([0, 5]))
    times = np.array([[0.0, 0.25, 0.5, 0.75], [5.0, 5.25, 5.5, 5.75]])
    assert early.scalars.shape == (2, STEPS, 2)
    for column, function in enumerate((np.cos, np.sin)):
        np.testing.assert_allclose(early.scalars[..., column], function(0.5 * times), atol=1e-15)


def test_cells_are_the_numbers_of_a_vector():
    numbers = by_cells(lambda x, y: jnp.outer(x, x)[1] * y, "float64", [1.0, 2.0, 3.0], 10.0)
    assert [float(number) for number in numbers] == [20.0, 40.0, 60.0]


# --- Sines and cosines --------------------------------------------------------------------


@pytest.mark.parametrize(("fast", "exact"), [(sine, np.sin), (cosine, np.cos)])
def test_sines_and_cosines_are_right_to_two_units_in_the_last_place(fast, exact):
    rng = np.random.default_rng(0)
    near = np.linspace(-10, 10, 20_001)
    far = rng.uniform(-1e5, 1e5, 100_000)
    quadrants = np.arange(-2000, 2000) * np.pi / 4
    for angles in (near, far, quadrants):
        found, wanted = np.asarray(jax.jit(fast)(angles)), exact(angles)
        assert np.abs(found - wanted).max() <= 2.3e-16


@pytest.mark.parametrize("fast", [sine, cosine])
def test_an_angle_that_is_not_finite_has_none(fast):
    assert np.isnan(fast(jnp.asarray([np.nan, np.inf, -np.inf]))).all()


def test_seasons_in_float32_are_right_too():
    model, (state, noise) = written(by_einsum), inputs(5)
    low = jax.tree.map(lambda leaf: leaf.astype("float32"), (model, state, noise))

    fast = advance_month(low[0], low[1], jnp.asarray(3.0, "float32"), low[2])

    assert fast.dtype == jnp.float32
    slow = as_written(over_members(model), state, jnp.asarray(3.0), noise)
    np.testing.assert_allclose(fast, slow, rtol=1e-5, atol=1e-5)
