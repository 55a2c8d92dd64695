"""Which part of a file is kept, and how is it copied?

The same for a file on a server and one on the disk: netCDF4 opens both. Numbers are copied
as they are stored, packed or not, with all their attributes.
"""

from pathlib import Path
from typing import Final

import netCDF4
import numpy as np

from enso_jax.observations.fetch._errors import FetchError
from enso_jax.observations.fetch._products import Piece, Product
from enso_jax.observations.fields import (
    QUANTITIES,
    decoded,
    layout_of,
    months_of,
    variable_of,
)
from enso_jax.state import MONTHS_PER_YEAR

#: Attributes of a server or of storage, which are not the file's own.
_NOT_COPIED: Final = ("_FillValue", "_ChunkSizes", "_Netcdf4Dimid", "_NCProperties")


def subset_of(source: str, piece: Piece) -> bytes:
    """A NetCDF file with the part of `source` that `piece` is.

    Args:
        source: an OPeNDAP address or a path.
        piece: a field's, not a long series'.

    Raises:
        FetchError: if the source breaks off, or has nothing of what is needed.
        ObservationError: if its layout is not understood.
    """
    assert piece.product is not None, "a long series is no field"
    try:
        with netCDF4.Dataset(source) as dataset:
            dataset.set_auto_maskandscale(False)
            return _copy(dataset, piece, piece.product)
    except (OSError, RuntimeError, IndexError) as error:
        raise FetchError(
            f"{source}: broke off ({error}); run the command again to go on.", passing=True
        ) from error


def _copy(dataset: netCDF4.Dataset, piece: Piece, product: Product) -> bytes:
    path = Path(piece.file)
    name = variable_of(dataset, QUANTITIES[product.name])
    if name is None:
        raise FetchError(
            f"{piece.address}: has no {product.name}, only {', '.join(dataset.variables)}; "
            "bring the file by hand."
        )
    layout = layout_of(path, dataset, dataset.variables[name])
    kept: dict[str, slice] = {}
    for axis, dimension in layout.names.items():
        coordinate = dataset.variables[dimension]
        match axis:
            case "time":
                years = months_of(path, coordinate).months // MONTHS_PER_YEAR
                chosen = np.flatnonzero((years >= piece.first_year) & (years <= piece.last_year))
            case "level":
                chosen = np.flatnonzero(product.levels(_numbers(coordinate)))
            case "latitude":
                chosen = product.region.rows(_numbers(coordinate))
            case "longitude":
                chosen = product.region.columns(_numbers(coordinate))
        if chosen.size == 0:
            raise FetchError(
                f"{piece.address}: has no {axis} that is needed of {product.name}; "
                "bring the file by hand."
            )
        kept[dimension] = slice(int(chosen.min()), int(chosen.max()) + 1)
    # In memory, and put on the disk as bytes: the library reports a full disk as "HDF error".
    copy = netCDF4.Dataset(piece.file, "w", memory=1 << 20)
    copy.setncatts({name: dataset.getncattr(name) for name in dataset.ncattrs()})
    for variable in (*layout.names.values(), name):
        _copy_variable(dataset.variables[variable], copy, kept)
    return bytes(copy.close())  # pyright: ignore[reportArgumentType]


def _numbers(coordinate: netCDF4.Variable) -> np.ndarray:
    return decoded(coordinate, np.asarray(coordinate[:])).ravel()


def _copy_variable(
    variable: netCDF4.Variable, copy: netCDF4.Dataset, kept: dict[str, slice]
) -> None:
    values = np.ma.getdata(
        variable[tuple(kept.get(name, slice(None)) for name in variable.dimensions)]
    )
    for dimension, size in zip(variable.dimensions, values.shape, strict=True):
        if dimension not in copy.dimensions:
            copy.createDimension(dimension, size)
    attributes = {key: variable.getncattr(key) for key in variable.ncattrs()}
    target = copy.createVariable(
        variable.name,
        values.dtype,
        variable.dimensions,
        fill_value=attributes.get("_FillValue", False),
        compression="zlib",
        complevel=1,
    )
    target.set_auto_maskandscale(False)
    target.setncatts({key: value for key, value in attributes.items() if key not in _NOT_COPIED})
    target[:] = values
