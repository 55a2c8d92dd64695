"""By which ways does a piece come?

Over OPeNDAP only the part that is needed crosses the network. Over plain HTTP the whole file
does, and the same part is then cut from it and the rest thrown away: slower and larger, for
where OPeNDAP is not let through.
"""

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Final

from enso_jax.files import whole_file
from enso_jax.observations._errors import ObservationError
from enso_jax.observations.fetch._errors import FetchError
from enso_jax.observations.fetch._http import download, start_of
from enso_jax.observations.fetch._products import Piece
from enso_jax.observations.fetch._subset import subset_of
from enso_jax.observations.fields import open_netcdf, read_long_series

#: Brings a piece to a path, and tells the bytes that have come.
Way = Callable[[Piece, Path, Callable[[int], None]], None]


def by_opendap(piece: Piece, target: Path, on_bytes: Callable[[int], None]) -> None:
    """In part, with netCDF4's own client."""
    # Asked first over HTTP: the library's own words for a missing file are "NetCDF: I/O failure".
    structure = start_of(f"{piece.opendap}.dds")
    if not structure.lstrip().startswith(b"Dataset"):
        raise FetchError(
            f"{piece.opendap}: what answers is no OPeNDAP server; take the other way, --by http."
        )
    content = subset_of(piece.opendap, piece)
    with whole_file(target) as unfinished:
        unfinished.write_bytes(content)
    on_bytes(piece.bytes)


def by_http(piece: Piece, target: Path, on_bytes: Callable[[int], None]) -> None:
    """Whole, and then cut."""
    full = target.with_name(f".whole-{target.name}")
    try:
        download(piece.address, full, on_bytes)
        open_netcdf(full).close()
        content = subset_of(str(full), piece)
    except ObservationError as error:
        raise _naming_the_address(error, full, piece) from error
    finally:
        full.unlink(missing_ok=True)
    with whole_file(target) as unfinished:
        unfinished.write_bytes(content)


def as_text(piece: Piece, target: Path, on_bytes: Callable[[int], None]) -> None:
    """A long series."""
    unchecked = target.with_name(f".unchecked-{target.name}")
    try:
        download(piece.address, unchecked, on_bytes)
        read_long_series(unchecked)
        unchecked.replace(target)
    except ObservationError as error:
        raise _naming_the_address(error, unchecked, piece) from error
    finally:
        unchecked.unlink(missing_ok=True)


WAYS: Final = MappingProxyType({"opendap": by_opendap, "http": by_http})


def way_for(piece: Piece, way: str) -> Way:
    """The way that was asked for, or the only one for text."""
    return as_text if piece.product is None else WAYS[way]


def _naming_the_address(error: ObservationError, path: Path, piece: Piece) -> ObservationError:
    """The same sentence about where a file is from, for where it was is no use to anyone."""
    if isinstance(error, FetchError):
        return error
    return FetchError(str(error).replace(str(path), piece.address), passing=True)
