"""What does the sea surface along the equator do when T_C and T_E do what they do?

A least-squares regression of the SST anomaly at each longitude (mean of 5S-5N) on the two
indices over the months of the long record::

    SST(longitude) = constant + east(longitude) T_E + central(longitude) T_C

and, for every El Nino winter, where and how high its warmest point was. Winters, like all
statistics of the long record, are of anomalies from its own mean.
"""

import dataclasses
from typing import Final

import numpy as np

from enso_jax.events import count_events, el_nino, winters
from enso_jax.observations._record import SstProfile
from enso_jax.observations.fields import Box, Field
from enso_jax.observations.indices._anomalies import anomalies
from enso_jax.observations.indices._monthly import equatorial_rows
from enso_jax.observations.indices._recipe import Recipe
from enso_jax.protocol import Protocol

#: A little more than where the protocol looks for events, so that the edge is inside.
_EQUATOR: Final = Box(119.0, 281.0)


@dataclasses.dataclass(frozen=True, eq=False)
class Equator:
    """SST anomalies along the equator.

    Attributes:
        first_month: integer date of the first row.
        longitude: (longitudes,) degrees east, where there is sea in every month.
        sst: (months, longitudes) degC.
    """

    first_month: int
    longitude: np.ndarray
    sst: np.ndarray


def equator_of(field: Field, recipe: Recipe) -> Equator:
    """The anomalies of an SST field along the equator."""
    recipe = dataclasses.replace(recipe, boxes={"equator": _EQUATOR})
    rows = list(equatorial_rows(field, "equator", recipe))
    sst = np.concatenate([row for _, row in rows])
    sea = np.isfinite(sst).all(axis=0)
    first_month = int(rows[0][0].months[0])
    departures, _ = anomalies(sst[:, sea], first_month, recipe.baseline_years, field.name)
    return Equator(first_month, rows[0][0].longitude[sea], departures)


def profile_of(longitude: np.ndarray, sst: np.ndarray, temperatures: np.ndarray) -> SstProfile:
    """The regression.

    Args:
        longitude: (longitudes,) degrees east.
        sst: (months, longitudes) degC.
        temperatures: (months, 2) T_C and T_E of the same months, degC.
    """
    T_C, T_E = temperatures.T
    predictors = np.column_stack([np.ones(len(sst)), T_E, T_C])
    constant, east, central = np.linalg.lstsq(predictors, sst, rcond=None)[0]
    return SstProfile(longitude, constant, east, central)


def peaks_of(longitude: np.ndarray, sst: np.ndarray, temperatures: np.ndarray) -> np.ndarray:
    """(events, 2): strength in degC and longitude of the warmest point of each El Nino winter.

    Args as in `profile_of`, of whole years from a January.
    """
    protocol = Protocol()
    west, east = protocol.peak_longitudes_dege
    inside = (longitude >= west) & (longitude <= east)
    warm = el_nino(winters(temperatures - temperatures.mean(axis=0)), protocol)
    events = winters(sst[:, inside] - sst[:, inside].mean(axis=0))[warm]
    return np.column_stack([events.max(axis=1), longitude[inside][events.argmax(axis=1)]])


def counts_of(temperatures: np.ndarray) -> dict[str, int]:
    """How many events of each type are in (months, 2) T_C and T_E, their own mean removed."""
    counts = count_events(temperatures - temperatures.mean(axis=0), Protocol())
    return {name: int(count) for name, count in counts.items()}
