"""Do strong El Ninos peak farther east, and are the observed ones among the simulated?

Each El Nino winter is a point: strength, the maximum over longitude of its equatorial
SST profile, and location, the longitude of that maximum. Two criteria, averaged:

- order (Equation 5 of the paper): with S the mean strength of the events that peak
  east and west of 150 W, ``min(1, max(0, (S_east - S_west) / 0.5 degC))``;
- region: the share of observed events inside the smallest region that holds 95% of
  the simulated ones, the highest-density region of their kernel density.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import scipy.stats

from enso_jax.events import el_nino
from enso_jax.protocol import Protocol

Profile = Callable[[np.ndarray, np.ndarray], np.ndarray]


def event_points(
    winter: np.ndarray, profile: Profile, longitude: np.ndarray, protocol: Protocol
) -> np.ndarray:
    """Strength (degC) and longitude (degrees east) of each El Nino, ``(event, 2)``.

    Args:
        winter: winter means ``(winter, [T_C, T_E])``.
        profile: SST at every `longitude`, ``(event, longitude)``, from T_C and T_E.
        longitude: degrees east.
        protocol: the threshold, and the longitudes in which the peak is looked for.
    """
    warm = winter[el_nino(winter, protocol)]
    west, east = protocol.peak_longitudes_dege
    inside = (longitude >= west) & (longitude <= east)
    sst = profile(warm[:, 0], warm[:, 1])[:, inside]
    return np.stack([sst.max(axis=-1), longitude[inside][sst.argmax(axis=-1)]], axis=-1)


def order_score(points: np.ndarray, protocol: Protocol) -> float:
    """Equation 5; 0 where one side has no event at all."""
    strength, location = points[:, 0], points[:, 1]
    eastern = location > protocol.divide_longitude_dege
    if eastern.all() or not eastern.any():
        return 0.0
    excess = strength[eastern].mean() - strength[~eastern].mean()
    return float(np.clip(excess / protocol.strength_excess_degc, 0.0, 1.0))


@dataclasses.dataclass(frozen=True)
class Region:
    """The smallest region that holds a given share of the events.

    Attributes:
        density: the kernel density of the events, Scott's bandwidth; called with
            ``(2, point)``, strength and longitude.
        level: the density at the region's edge.
    """

    density: scipy.stats.gaussian_kde
    level: float

    def holds(self, points: np.ndarray) -> np.ndarray:
        """Which of the ``(point, 2)`` lie inside."""
        return self.density(points.T) >= self.level


def region(points: np.ndarray, probability: float) -> Region | None:
    """The region that holds `probability` of ``(event, 2)``.

    None where the events are too few or too alike to have a density.
    """
    try:
        density = scipy.stats.gaussian_kde(points.T)
    except (ValueError, np.linalg.LinAlgError):
        return None
    return Region(density, float(np.quantile(density(points.T), 1.0 - probability)))


def region_score(simulated: np.ndarray, observed: np.ndarray, probability: float) -> float:
    """The share of `observed` events in the region that holds `probability` of `simulated`.

    0 where there is no such region.
    """
    found = region(simulated, probability)
    return 0.0 if found is None else float(found.holds(observed).mean())
