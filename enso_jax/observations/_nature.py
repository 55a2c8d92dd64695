"""What stands in for nature where no observations are at hand?

The nature run: the years 1950-2024 simulated once by the six-variable multiscale
model from a fixed seed, cut into the same periods as the measured record. It has
everything that a record has, an SST profile and event counts of its own included,
so that all of the engine runs anywhere. Scores against it are not scores against
the observed El Nino.

Its SST along the equator is ``SST(l) = e(l) T_E + c(l) T_C``, where e and c are the
combinations of two bell curves, over the eastern and the central Pacific, whose
means over the boxes of T_E and T_C are exactly (1, 0) and (0, 1).
"""

import functools
import hashlib
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from enso_jax.events import count_events
from enso_jax.models import Multiscale
from enso_jax.observations._record import Record, Series, SstProfile
from enso_jax.protocol import Protocol
from enso_jax.state import MONTHS_PER_YEAR, NAMES, month_index
from enso_jax.stepping import advance_month

_NAME: Final = "nature-run"
#: Changes whenever the numbers of the nature run change.
_EDITION: Final = 1
_SEED: Final = 5
_SPIN_UP_YEARS: Final = 50
_FIRST_YEAR: Final = 1950
_PERIODS: Final = {"long": (1950, 2019), "development": (1980, 2014), "held_out": (2015, 2024)}

_LONGITUDES: Final = np.arange(119.5, 280.0)
_BELLS: Final = ((255.0, 45.0), (180.0, 35.0))  # centre and width, degrees
_BOXES: Final = ((210.0, 270.0), (160.0, 210.0))  # of T_E and T_C


@functools.cache
def nature_run() -> Record:
    """The simulated record; its values are the states at the months' ends.

    Needs JAX in float64, like all experiments.
    """
    monthly = _simulate()
    parts = {name: _period(monthly, *years) for name, years in _PERIODS.items()}
    long = parts["long"]
    temperatures = Series(long.first_month, NAMES[:2], long.values[:, :2], long.measured[:, :2])
    anomalies = temperatures.values - temperatures.values.mean(axis=0)
    counts = count_events(anomalies, Protocol())
    return Record(
        name=_NAME,
        kind="simulated",
        description=(
            "1950-2024 as simulated by the six-variable multiscale model of Chen, Fang & Yu "
            f"(2022), seed {_SEED}: not an observation"
        ),
        long=temperatures,
        development=parts["development"],
        held_out=parts["held_out"],
        profile=_profile(),
        event_counts={name: int(count) for name, count in counts.items()},
        peaks=None,
        # Of the recipe: the last bits of the numbers differ from machine to machine.
        digest=hashlib.sha256(f"{_NAME} {_EDITION} seed {_SEED}".encode()).hexdigest(),
    )


def _simulate() -> np.ndarray:
    """``(month, variable)`` from January of the first year on."""
    _, last_year = _PERIODS["held_out"]
    months = MONTHS_PER_YEAR * (_SPIN_UP_YEARS + last_year - _FIRST_YEAR + 1)
    step = Multiscale()
    shape = (months, Protocol.steps_per_month, step.noise_size)

    @jax.jit
    def run(key):
        def one_month(state, inputs):
            state = advance_month(step, state, *inputs)
            return state, state

        times = jnp.arange(months, dtype="float64")
        background = 2.0
        start = jnp.zeros(step.noise_size).at[-1].set(background)
        return jax.lax.scan(one_month, start, (times, jax.random.normal(key, shape, "float32")))[1]

    monthly = np.asarray(run(jax.random.key(_SEED)))
    return monthly[MONTHS_PER_YEAR * _SPIN_UP_YEARS :, : len(NAMES)]


def _period(monthly: np.ndarray, first_year: int, last_year: int) -> Series:
    begin, end = (MONTHS_PER_YEAR * (year - _FIRST_YEAR) for year in (first_year, last_year + 1))
    values = monthly[begin:end]
    return Series(month_index(first_year, 1), NAMES, values, np.ones_like(values, dtype=bool))


def _profile() -> SstProfile:
    bells = np.stack(
        [np.exp(-0.5 * ((_LONGITUDES - centre) / width) ** 2) for centre, width in _BELLS]
    )
    boxes = np.stack([(_LONGITUDES > west) & (_LONGITUDES < east) for west, east in _BOXES])
    means = np.stack([bells[:, box].mean(axis=1) for box in boxes])
    east, central = np.linalg.inv(means).T @ bells
    return SstProfile(_LONGITUDES, np.zeros_like(_LONGITUDES), east, central)
