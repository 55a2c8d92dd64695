"""Which files of NOAA PSL are needed, and which part of each?

ERSSTv5 is one file; GODAS and NCEP/NCAR have one a year. Of each only the cells and levels
that an index needs are kept. The long Nino-3 and Nino-4 series (HadISST1) are text.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from enso_jax.observations.fields import Box
from enso_jax.state import MONTHS_PER_YEAR


@dataclasses.dataclass(frozen=True)
class Server:
    """Where the files are.

    Attributes:
        opendap: address below which files are served in parts.
        files: address below which they are served whole.
        series: address below which the long series are.
    """

    opendap: str
    files: str
    series: str


NOAA: Final = Server(
    opendap="https://psl.noaa.gov/thredds/dodsC/Datasets",
    files="https://downloads.psl.noaa.gov/Datasets",
    series="https://psl.noaa.gov/gcos_wgsp/Timeseries/Data",
)


@dataclasses.dataclass(frozen=True)
class Product:
    """One field at NOAA.

    Attributes:
        name: a key of `QUANTITIES`.
        path: below the server's address; ``{year}`` if there is a file a year.
        region: what is kept.
        levels: which levels are kept.
        first_year: from which year on.
        bytes_a_year: about what is kept of a year, before compression.
    """

    name: str
    path: str
    region: Box
    levels: Callable[[np.ndarray], np.ndarray]
    first_year: int
    bytes_a_year: int

    @property
    def yearly(self) -> bool:
        """Whether there is a file for each year."""
        return "{year}" in self.path


def _to_depth(metres: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda level: level <= metres


def _at_pressure(hectopascal: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda level: np.abs(level - hectopascal) < 0.5


_MONTHS: Final = MONTHS_PER_YEAR
PRODUCTS: Final = (
    Product(
        "sst",
        "noaa.ersst.v5/sst.mnmean.nc",
        Box(116.0, 284.0, -8.0, 8.0),
        np.isfinite,
        1950,
        _MONTHS * 9 * 85 * 4,
    ),
    Product(
        "pottmp",
        "godas/pottmp.{year}.nc",
        Box(118.0, 182.0, -5.5, 5.5),
        _to_depth(500.0),
        1980,
        _MONTHS * 28 * 32 * 64 * 2,
    ),
    Product(
        "ucur",
        "godas/ucur.{year}.nc",
        Box(158.0, 212.0, -5.5, 5.5),
        _to_depth(70.0),
        1980,
        _MONTHS * 7 * 32 * 54 * 2,
    ),
    Product(
        "uwnd",
        "ncep.reanalysis/Dailies/pressure/uwnd.{year}.nc",
        Box(115.0, 185.0, -7.5, 7.5),
        _at_pressure(850.0),
        1980,
        366 * 7 * 29 * 4,
    ),
)
_SERIES: Final = ("nino3.long.anom.data", "nino4.long.anom.data")
_SERIES_BYTES: Final = 16_000


@dataclasses.dataclass(frozen=True)
class Piece:
    """One file of the raw folder.

    Attributes:
        file: its name.
        product: of which it is a part, None for a long series.
        opendap, address: of the whole file at the server, in parts or as it is.
        first_year, last_year: of the times that are kept.
        bytes: about its size, before compression.
    """

    file: str
    product: Product | None
    opendap: str
    address: str
    first_year: int
    last_year: int
    bytes: int


def pieces(server: Server, last_year: int) -> list[Piece]:
    """Every file that a record needs whose held-out period ends with `last_year`."""
    return [*_fields(server, last_year), *_long_series(server, last_year)]


def _fields(server: Server, last_year: int) -> Iterator[Piece]:
    for product in PRODUCTS:
        spans = (
            [(year, year) for year in range(product.first_year, last_year + 1)]
            if product.yearly
            else [(product.first_year, last_year)]
        )
        for first, last in spans:
            path = product.path.format(year=first)
            yield Piece(
                file=path.rsplit("/", 1)[-1],
                product=product,
                opendap=f"{server.opendap}/{path}",
                address=f"{server.files}/{path}",
                first_year=first,
                last_year=last,
                bytes=product.bytes_a_year * (last - first + 1),
            )


def _long_series(server: Server, last_year: int) -> Iterator[Piece]:
    for file in _SERIES:
        address = f"{server.series}/{file}"
        yield Piece(file, None, address, address, 1950, last_year, _SERIES_BYTES)
