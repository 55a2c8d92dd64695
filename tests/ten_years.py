"""A short record whose indices are known: ten years of red noise."""

import numpy as np

from enso_jax.observations import Record, Series, SstProfile
from enso_jax.observations.indices import Periods, Recipe, anomalies
from enso_jax.protocol import EVENT_TYPES
from enso_jax.state import NAMES, month_index

PERIODS = Periods(long=(1978, 1987), development=(1980, 1985), held_out=(1986, 1987))
RECIPE = Recipe(baseline_years=(1981, 1986))


def red_noise(rng: np.random.Generator, months: int, variables: int) -> np.ndarray:
    values = rng.standard_normal((months, variables))
    for month in range(1, months):
        values[month] = 0.9 * values[month - 1] + 0.4 * values[month]
    return values


def ten_years() -> Record:
    """Ten years of red noise, anomalies from their own climatology of the baseline years."""
    rng = np.random.default_rng(3)
    five = red_noise(rng, 96, 5) * [0.8, 0.9, 12.0, 0.12, 2.5]
    five, _ = anomalies(five, month_index(1980, 1), RECIPE.baseline_years, "truth")
    long = np.concatenate([red_noise(rng, 24, 2), five[:, :2]])

    def series(values: np.ndarray, year: int) -> Series:
        names = NAMES[: values.shape[1]]
        return Series(month_index(year, 1), names, values, np.ones(values.shape, bool))

    longitude = np.linspace(140.0, 280.0, 141)
    flat = np.zeros_like(longitude)
    return Record(
        "red noise", "simulated", "Red noise", series(long, 1978), series(five[:72], 1980),
        series(five[72:], 1986), SstProfile(longitude, flat, flat, flat),
        dict.fromkeys(EVENT_TYPES, 0), None, "",
    )  # fmt: skip
