"""Which cells of a grid lie in a box, wherever its longitudes begin and its latitudes run?

Longitudes are compared on the circle, as ``(longitude - west) mod 360``: 170W is as far
east of 160E as 190E is, so the dateline is no edge, and neither is Greenwich.
"""

import dataclasses
from typing import Final

import numpy as np

#: Coordinates in float32 miss their round value by less than this, degrees.
_ROUNDING_DEG: Final = 1e-3


@dataclasses.dataclass(frozen=True)
class Box:
    """A region between two meridians and two parallels, edges included.

    Attributes:
        west_dege, east_dege: degrees east from 0 to 360, west first.
        south_degn, north_degn: degrees north.
    """

    west_dege: float
    east_dege: float
    south_degn: float = -5.0
    north_degn: float = 5.0

    def columns(self, longitude: np.ndarray) -> np.ndarray:
        """(columns,) int: the cells whose centre is inside, from west to east, each place once."""
        eastward = self.eastward(longitude)
        inside = np.flatnonzero(eastward <= self.east_dege + _ROUNDING_DEG)
        # A file with both 0 and 360 has one place twice.
        _, first = np.unique(np.round(eastward[inside], 3), return_index=True)
        return inside[first]

    def eastward(self, longitude: np.ndarray) -> np.ndarray:
        """The same places, counted in degrees east from the box's west edge on."""
        beyond = (longitude - self.west_dege + _ROUNDING_DEG) % 360.0 - _ROUNDING_DEG
        return np.round(self.west_dege + beyond, 6)

    def rows(self, latitude: np.ndarray) -> np.ndarray:
        """(rows,) int: the cells whose centre is inside, from south to north."""
        inside = (latitude >= self.south_degn - _ROUNDING_DEG) & (
            latitude <= self.north_degn + _ROUNDING_DEG
        )
        chosen = np.flatnonzero(inside)
        return chosen[np.argsort(latitude[chosen])]

    def uncovered(self, longitude: np.ndarray, latitude: np.ndarray) -> str:
        """What of the box a grid does not reach, in words; nothing if it reaches all.

        Args:
            longitude: (columns,) of the cells inside, degrees east, from west to east.
            latitude: (rows,) of the cells inside, degrees north, from south to north.
        """
        if longitude.size == 0 or latitude.size == 0:
            return f"{self} holds no point of the grid"
        west, east = _reach(longitude)
        south, north = _reach(latitude)
        if west > self.west_dege or east < self.east_dege:
            return f"the grid ends at {longitude[0]:g} and {longitude[-1]:g}E inside {self}"
        if south > self.south_degn or north < self.north_degn:
            return f"the grid ends at {latitude[0]:g} and {latitude[-1]:g}N inside {self}"
        return ""

    def __str__(self) -> str:
        return (
            f"the box {self.west_dege:g}-{self.east_dege:g}E, "
            f"{self.south_degn:g} to {self.north_degn:g}N"
        )


def _reach(centres: np.ndarray) -> tuple[float, float]:
    """How far a row of cells can be without the next one being inside the box as well."""
    spacing = float(np.median(np.diff(centres))) if centres.size > 1 else 0.0
    margin = spacing + _ROUNDING_DEG
    return float(centres[0]) - margin, float(centres[-1]) + margin
