"""What is measured in a field, by which names do files call it, and which values can it have?"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from enso_jax.observations._errors import ObservationError

_KELVIN: Final = 273.15
_TEMPERATURE: Final = {
    **dict.fromkeys(
        ("degc", "c", "deg_c", "celsius", "degrees_celsius", "degree_celsius", "degree_c",
         "degrees c", "deg c", "degrees_c"),
        (1.0, 0.0),
    ),
    **dict.fromkeys(
        ("k", "degk", "deg_k", "kelvin", "degrees_kelvin", "degree_kelvin", "degrees_k", "kelvins"),
        (1.0, -_KELVIN),
    ),
}  # fmt: skip
_VELOCITY: Final = {
    **dict.fromkeys(("m/s", "m s-1", "m s**-1", "m.s-1", "ms-1", "meter/second", "m s^-1"), (1, 0)),
    **dict.fromkeys(("cm/s", "cm s-1", "cm s**-1", "cm.s-1"), (0.01, 0)),
}


@dataclasses.dataclass(frozen=True)
class Quantity:
    """One of the four fields.

    Attributes:
        name: PSL's name for it, and ours.
        aliases: other names of its variable, in lower case.
        standard_names: those of the CF conventions.
        units: what it is given in here.
        conversions: for units in lower case, what to multiply by and then add.
        plausible: lowest and highest value that is no error, in `units`.
    """

    name: str
    aliases: tuple[str, ...]
    standard_names: tuple[str, ...]
    units: str
    conversions: Mapping[str, tuple[float, float]]
    plausible: tuple[float, float]

    def conversion(self, path: Path, units: str, typical: float) -> tuple[float, float]:
        """What to multiply a file's values by, and then to add.

        Args:
            path: of the file, for a sentence.
            units: as the file states them, empty if it does not.
            typical: a value of the file, which tells Kelvin from Celsius where units are absent.
        """
        if not units:
            is_kelvin = self.units == "degC" and typical > 150.0
            return (1.0, -_KELVIN) if is_kelvin else (1.0, 0.0)
        if units.lower() not in self.conversions:
            known = ", ".join(self.conversions)
            raise ObservationError(
                f"{path}: {self.name} is in {units!r}, which is not understood; give it in one of "
                f"{known}."
            )
        return self.conversions[units.lower()]

    def check_plausible(self, path: Path, values: np.ndarray) -> None:
        """Refuses values that no ocean or wind has: a fill value that nothing declares, a unit.

        Args:
            path: of the file, for a sentence.
            values: (...) in `units`, NaN where missing.
        """
        lowest, highest = self.plausible
        wrong = (values < lowest) | (values > highest)
        if wrong.any():
            raise ObservationError(
                f"{path}: {self.name} has the value {values[wrong][0]:.6g} {self.units}; say with "
                "_FillValue or missing_value if it means that none is there, or mend the units."
            )


QUANTITIES: Final = {
    quantity.name: quantity
    for quantity in (
        Quantity(
            "sst",
            ("tos", "sea_surface_temperature"),
            ("sea_surface_temperature",),
            "degC",
            _TEMPERATURE,
            (-5.0, 50.0),
        ),
        Quantity(
            "pottmp",
            ("thetao", "temp", "potmp", "votemper"),
            ("sea_water_potential_temperature", "sea_water_temperature"),
            "degC",
            _TEMPERATURE,
            (-5.0, 50.0),
        ),
        Quantity(
            "ucur",
            ("uo", "vozocrtx"),
            ("eastward_sea_water_velocity", "sea_water_x_velocity"),
            "m s-1",
            _VELOCITY,
            (-10.0, 10.0),
        ),
        Quantity(
            "uwnd", ("ua", "u_component_of_wind"), ("eastward_wind",), "m s-1", _VELOCITY,
            (-200.0, 200.0),
        ),
    )
}  # fmt: skip
