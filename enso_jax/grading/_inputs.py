"""What do the experiments of a grade start from? The same for every engine and every model."""

import dataclasses
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from enso_jax.observations import ObservationError, Record
from enso_jax.protocol import Protocol
from enso_jax.scores import (
    INDICES,
    TESTS,
    assimilated,
    forecast_starts,
    observation_error,
    targets,
)
from enso_jax.state import MONTHS_PER_YEAR, NAMES

#: The experiments by name, in the order in which they are spoken of.
EXPERIMENTS: Final = ("free run", "smoother", "forecasts")


@dataclasses.dataclass(frozen=True)
class Inputs:
    """Observations and keys.

    Attributes:
        tests: what each of `TESTS` assimilates; NaN where it does not.
        error: standard deviation of the observation error.
        initial: the observed states from which forecasts start; NaN where not observed.
        start_months: their calendar months, 0 for January.
        keys: one for each of `EXPERIMENTS` and each replicate. Replicate r of a seed has
            the same however many replicates there are.
    """

    tests: Float[Array, "test month variable"]
    error: Float[Array, " variable"]
    initial: Float[Array, "start variable"]
    start_months: Int[Array, " start"]
    keys: tuple[Key[Array, " replicate"], ...]


def experiment_inputs(record: Record, protocol: Protocol, seed: int, replicates: int) -> Inputs:
    """The inputs that `record` and `seed` give.

    Raises:
        ObservationError: if no forecast could be scored, or no reconstruction.
    """
    _require_usable(record, protocol)
    development = record.development.values
    starts = forecast_starts(record.held_out.months, protocol)
    return Inputs(
        tests=jnp.asarray([assimilated(development, test) for test in TESTS]),
        error=jnp.asarray(observation_error(development, protocol)),
        initial=jnp.asarray(record.held_out.values[:starts]),
        start_months=jnp.arange(starts) % MONTHS_PER_YEAR,
        keys=tuple(_replicate_keys(seed, number, replicates) for number in range(len(EXPERIMENTS))),
    )


def _require_usable(record: Record, protocol: Protocol) -> None:
    held_out = record.held_out.values
    starts = forecast_starts(len(held_out), protocol)
    complete = np.isfinite(held_out[:starts]).all(axis=1, keepdims=True)
    for index in INDICES:
        observed = targets(held_out[:, NAMES.index(index)], protocol).observed
        if not (complete & np.isfinite(observed)).any(axis=0).all():
            raise ObservationError(
                f"In the held-out months of {record.name} no month with all five variables has "
                f"{index} at each of the {protocol.forecast_leads} months after it, so no forecast "
                "can be scored: use a longer or a more complete record."
            )
    scored = record.development.values[protocol.smoother_spin_up_months :]
    if (np.isfinite(scored).sum(axis=0) < MONTHS_PER_YEAR).any():
        raise ObservationError(
            f"The development months of {record.name} have a variable with less than a year of "
            f"values after the first {protocol.smoother_spin_up_months} months, so no "
            "reconstruction of it can be scored: use a longer or a more complete record."
        )


def _replicate_keys(seed: int, experiment: int, replicates: int) -> Key[Array, " replicate"]:
    key = jax.random.fold_in(jax.random.key(seed), experiment)
    return jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(replicates))
