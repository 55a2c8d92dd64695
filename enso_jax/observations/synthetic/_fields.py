"""Which fields have these indices, exactly?

Each field is a climatology plus patterns times indices, and each pattern has a weighted mean
of one over the box of its own index, and of zero over the box of the other::

    sst    = climatology + east(y, x) T_E + central(y, x) T_C
    pottmp = 20 - slope(t) (z - depth),   depth = climatology + pattern(y, x) h_W
    ucur   = climatology + pattern(y, x) u + shear(t) (z - mean z of the levels to 55 m)
    uwnd   = climatology + pattern(y, x) tau + weather whose mean over each month is zero

Patterns vary with latitude and longitude, slope and shear with time, and some cells are land,
so that a wrong box, weight, level or isotherm gives other indices. The anomalies that come
back are those of the record from its own climatology of the baseline years.
"""

import dataclasses
from typing import Final

import numpy as np

from enso_jax.observations._record import Record
from enso_jax.observations.indices import Recipe, cosine_weights
from enso_jax.state import MONTHS_PER_YEAR, NAMES

_GODAS_LEVELS_M: Final = np.array(
    [*np.arange(5.0, 226.0, 10.0), 238.479, 262.294, 303.029, 366.979, 459.091]
)
_LAPSE_DEGC_PER_M: Final = 0.05
_DAYS: Final = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


@dataclasses.dataclass(frozen=True, eq=False)
class SyntheticField:
    """A field in memory.

    Attributes:
        name: a key of `QUANTITIES`.
        units: of `values`.
        months: (times,) integer dates.
        days: (times,) day of the month from 1.
        level: (levels,) metres or hPa; empty if the field has no level axis.
        latitude: (rows,) degrees north, increasing.
        longitude: (columns,) degrees east, increasing.
        values: (times, [levels,] rows, columns), NaN on land.
        simulated: whether the record is.
    """

    name: str
    units: str
    months: np.ndarray
    days: np.ndarray
    level: np.ndarray
    latitude: np.ndarray
    longitude: np.ndarray
    values: np.ndarray
    simulated: bool


def synthetic_fields(record: Record, seed: int = 0) -> list[SyntheticField]:
    """Four fields whose indices are those of `record`.

    SST covers the long record, too; the others begin with the development. A field ends where
    its index does.

    Args:
        record: whose T_C, T_E of the long record serve until the development begins.
        seed: of the weather.

    Raises:
        ValueError: if an index has a missing value before its last one, or the held-out period
            does not follow on the development.
    """
    if record.held_out.first_month != record.development.first_month + record.development.months:
        raise ValueError("the held-out period does not follow on the development")
    five = np.concatenate([record.development.values, record.held_out.values])
    indices = {name: _until_it_ends(name, five[:, column]) for column, name in enumerate(NAMES)}
    first_month = record.development.first_month
    before = first_month - record.long.first_month
    temperatures = [
        np.concatenate([record.long.values[:before, column], indices[name]])
        for column, name in enumerate(NAMES[:2])
    ]
    return [
        dataclasses.replace(field, simulated=record.simulated)
        for field in (
            _sst(record.long.first_month, *temperatures),
            _pottmp(first_month, indices["h_W"]),
            _ucur(first_month, indices["u"]),
            _uwnd(first_month, indices["tau"], np.random.default_rng(seed)),
        )
    ]


def _until_it_ends(name: str, values: np.ndarray) -> np.ndarray:
    present = np.flatnonzero(np.isfinite(values))
    if present.size == 0 or present[-1] + 1 != present.size:
        raise ValueError(f"{name} has a gap; fields are made of an index without gaps")
    return values[: present.size]


def _sst(first_month: int, T_C: np.ndarray, T_E: np.ndarray) -> SyntheticField:
    latitude, longitude = np.arange(-8.0, 9.0, 2.0), np.arange(110.0, 291.0, 2.0)
    land = np.zeros((latitude.size, longitude.size), dtype=bool)
    land[3:5, longitude == 172.0] = True
    land[:5, longitude >= 282.0] = True
    bells = [
        np.exp(-0.5 * ((longitude - centre) / width) ** 2) * (1 + tilt * (latitude / 5)[:, None])
        * (1 - 0.2 * (latitude / 5)[:, None] ** 2)
        for centre, width, tilt in ((245.0, 35.0, -0.2), (185.0, 30.0, 0.1))
    ]  # fmt: skip
    means = np.array(
        [
            [_box_mean(name, latitude, longitude, bell, land) for name in ("T_E", "T_C")]
            for bell in bells
        ]
    )
    east, central = np.tensordot(np.linalg.inv(means), np.stack(bells), axes=1)
    months = first_month + np.arange(min(T_C.size, T_E.size))
    climatology = 27.0 - 0.1 * latitude[:, None] ** 2 / 5 - 3.0 * (longitude - 200.0) / 90.0
    season = np.cos(2 * np.pi * (months % MONTHS_PER_YEAR) / MONTHS_PER_YEAR)
    values = (
        climatology
        + 0.5 * season[:, None, None] * (1 + latitude[:, None] / 10)
        + T_E[: months.size, None, None] * east
        + T_C[: months.size, None, None] * central
    )
    return _monthly_field("sst", "degC", months, np.empty(0), latitude, longitude, values, land)


def _pottmp(first_month: int, h_W: np.ndarray) -> SyntheticField:
    latitude, longitude = np.arange(-6.5, 7.0, 1.0), np.arange(116.5, 184.0, 2.0)
    land = _island(latitude, longitude, 144.5)
    months = first_month + np.arange(h_W.size)
    pattern = _unit_pattern("h_W", latitude, longitude, land)
    base = 160.0 + 5.0 * np.cos(2 * np.pi * months / MONTHS_PER_YEAR)
    depth = base[:, None, None] + h_W[:, None, None] * pattern + 0.1 * (longitude - 150.0)
    slope = _LAPSE_DEGC_PER_M * (1 + 0.2 * np.sin(2 * np.pi * months / 37.0))
    above = depth[:, None] - _GODAS_LEVELS_M[:, None, None]
    values = 20.0 + slope[:, None, None, None] * above
    return _monthly_field(
        "pottmp", "degC", months, _GODAS_LEVELS_M, latitude, longitude, values, land
    )


def _ucur(first_month: int, u: np.ndarray) -> SyntheticField:
    latitude, longitude = np.arange(-6.5, 7.0, 1.0), np.arange(156.5, 214.0, 2.0)
    land = _island(latitude, longitude, 172.5)
    level = _GODAS_LEVELS_M[:8]
    months = first_month + np.arange(u.size)
    pattern = _unit_pattern("u", latitude, longitude, land)
    shear = 0.002 * np.sin(2 * np.pi * months / 29.0)
    from_middle = level - level[level <= Recipe().current_to_m].mean()
    values = (
        0.1 * np.cos(2 * np.pi * months / MONTHS_PER_YEAR)[:, None, None, None]
        + (u[:, None, None] * pattern)[:, None]
        + (shear[:, None] * from_middle)[:, :, None, None]
    )
    return _monthly_field("ucur", "m s-1", months, level, latitude, longitude, values, land)


def _uwnd(first_month: int, tau: np.ndarray, rng: np.random.Generator) -> SyntheticField:
    latitude, longitude = np.arange(-7.5, 8.0, 2.5), np.arange(115.0, 186.0, 2.5)
    pattern = _unit_pattern(
        "tau", latitude, longitude, np.zeros((latitude.size, longitude.size), dtype=bool)
    )
    months = first_month + np.arange(tau.size)
    season = np.cos(2 * np.pi * months / MONTHS_PER_YEAR)
    counts = _DAYS[months % MONTHS_PER_YEAR] + _is_leap_february(months)
    day_values, day_months, day_numbers = [], [], []
    for month, value, cycle, count in zip(months, tau, season, counts, strict=True):
        weather = rng.normal(0, 2.0, (count, latitude.size, longitude.size))
        day_values.append(-2.0 + cycle + value * pattern + weather - weather.mean(axis=0))
        day_months.append(np.full(count, month))
        day_numbers.append(np.arange(1, count + 1))
    values = np.concatenate(day_values)[:, np.newaxis]
    return SyntheticField(
        "uwnd", "m s-1", np.concatenate(day_months), np.concatenate(day_numbers),
        np.array([850.0]), latitude, longitude, values, True,
    )  # fmt: skip


def _monthly_field(
    name: str,
    units: str,
    months: np.ndarray,
    level: np.ndarray,
    latitude: np.ndarray,
    longitude: np.ndarray,
    values: np.ndarray,
    land: np.ndarray,
) -> SyntheticField:
    values = np.where(land, np.nan, values)
    days = np.ones(months.size, dtype=np.int64)
    return SyntheticField(name, units, months, days, level, latitude, longitude, values, True)


def _island(latitude: np.ndarray, longitude: np.ndarray, east: float) -> np.ndarray:
    land = np.zeros((latitude.size, longitude.size), dtype=bool)
    land[(latitude > -3) & (latitude < -1), longitude == east] = True
    return land


def _unit_pattern(
    name: str, latitude: np.ndarray, longitude: np.ndarray, land: np.ndarray
) -> np.ndarray:
    """(rows, columns) with a mean of one over the box of an index."""
    box = Recipe().boxes[name]
    middle = (box.west_dege + box.east_dege) / 2
    shape = 1 + 0.3 * (longitude - middle) / 30.0 - 0.3 * (latitude[:, None] / 5.0) ** 2
    return shape / _box_mean(name, latitude, longitude, shape, land)


def _box_mean(
    name: str, latitude: np.ndarray, longitude: np.ndarray, pattern: np.ndarray, land: np.ndarray
) -> float:
    """The mean of (rows, columns) over the box of an index, without its land."""
    box = Recipe().boxes[name]
    rows, columns = box.rows(latitude), box.columns(longitude)
    inside = np.ix_(rows, columns)
    weights = cosine_weights(latitude[rows], longitude[columns], box) * ~land[inside]
    return float(np.sum(pattern[inside] * weights) / np.sum(weights))


def _is_leap_february(months: np.ndarray) -> np.ndarray:
    year, month = months // MONTHS_PER_YEAR, months % MONTHS_PER_YEAR
    return (month == 1) & (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
