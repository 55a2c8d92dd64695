"""How does a state get to the end of a month?

A month is cut into equal steps, and so are all months of a run. What the steps need of
time alone is made for many months at once, before the run.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from enso_jax.models import Step
from enso_jax.stepping._levels import Values, in_levels


class Months:
    """A step, made ready to be taken through months.

    To be made and used while one function is compiled.

    Attributes:
        steps: of a month.
    """

    def __init__(self, step: Step, steps: int, dtype: str, variables: int = 5) -> None:
        """See the attributes.

        Args:
            step: the model, its parameters in `dtype`.
            steps: of a month, all equal.
            dtype: of the state.
            variables: how many a state has.
        """
        self.steps = steps
        self._dtype = dtype
        self._levels = in_levels(step, variables, step.noise_size, 1.0 / steps, dtype)

    def early(self, months: Float[Array, " month"]) -> Values:
        """What the steps of these months need of time alone; axes ``(month, step)``.

        Args:
            months: when each begins, in months since 1 January of the run's first year.
        """
        dt = jnp.asarray(1.0 / self.steps, self._dtype)
        numbers = jnp.arange(self.steps, dtype=self._dtype)

        def one_month(month):
            return jax.vmap(self._levels.early)(month + numbers * dt)

        return jax.vmap(one_month)(months.astype(self._dtype))

    def advance(
        self,
        state: tuple[Float[Array, " *member"], ...],
        early: Values,
        noise: Float[Array, "step q *member"],
    ) -> tuple[Float[Array, " *member"], ...]:
        """The state at the end of a month.

        Args:
            state: at its beginning, a tuple of the variables: as one array, XLA would put it
                together again after each step.
            early: of this month.
            noise: standard normals of any floating type; they are widened to that of the state.
        """
        if noise.ndim == 2:
            return self._advance_one(state, early, noise)
        late: Callable[..., tuple[Array, ...]] = self._levels.late
        for _ in range(noise.ndim - 2):
            late = jax.vmap(late, in_axes=(0, None, None, None, 0))
        seasons = jax.vmap(self._levels.season, (None, 0))(self._levels.fixed, early)

        def one_step(state, inputs):
            early, season, noise = inputs
            return late(state, self._levels.fixed, early, season, self._normals(noise)), None

        return lax.scan(one_step, state, (early, seasons, noise))[0]

    def _advance_one(
        self, state: tuple[Array, ...], early: Values, noise: Float[Array, "step q"]
    ) -> tuple[Array, ...]:
        """A single state is one array between the steps.

        XLA compiles a loop over a few small arrays into one kernel; over five scalars it starts
        a kernel for each.
        """
        levels = self._levels

        def one_step(state, inputs):
            early, noise = inputs
            season = levels.season(levels.fixed, early)
            new = levels.late(tuple(state), levels.fixed, early, season, self._normals(noise))
            return jnp.stack(new), None

        return tuple(lax.scan(one_step, jnp.stack(state), (early, noise))[0])

    def _normals(self, noise: Array) -> tuple[Array, ...]:
        return tuple(row.astype(self._dtype) for row in noise)


def advance_month(
    step: Step,
    state: Float[Array, " variable *member"],
    month: Float[Array, ""],
    noise: Float[Array, "step q *member"],
) -> Float[Array, " variable *member"]:
    """The state at the end of a month that begins at time `month`.

    Args:
        step: the model, its parameters in the type of the state.
        state: at the month's beginning.
        month: months since 1 January of the run's first year.
        noise: standard normals; the month is cut into as many equal steps as this has rows.
    """
    months = Months(step, noise.shape[0], str(state.dtype), len(state))
    early = jax.tree.map(lambda values: values[0], months.early(month[None]))
    return jnp.stack(months.advance(tuple(state), early, noise))
