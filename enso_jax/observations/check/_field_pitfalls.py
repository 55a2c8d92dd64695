"""Which mistakes can be told only with the fields at hand?

Each is a recipe that is wrong in one point. With it the index is made again from the fields,
and compared with the candidate.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np

from enso_jax.observations.fields import Box
from enso_jax.observations.indices import Recipe, area_weights, uniform_weights


@dataclasses.dataclass(frozen=True)
class FieldPitfall:
    """A recipe that is wrong in one point.

    Attributes:
        name: of the mistake, as it is known.
        says: what was done, in a sentence without its full stop.
        wrong: the wrong recipe for an index, from the right one.
    """

    name: str
    says: str
    wrong: Callable[[Recipe, str], Recipe]


def _with_box(change: Callable[[Box], Box]) -> Callable[[Recipe, str], Recipe]:
    def wrong(recipe: Recipe, index: str) -> Recipe:
        boxes: Mapping[str, Box] = {**recipe.boxes, index: change(recipe.boxes[index])}
        return dataclasses.replace(recipe, boxes=boxes)

    return wrong


def _changed(**changes: object) -> Callable[[Recipe, str], Recipe]:
    return lambda recipe, index: dataclasses.replace(recipe, **changes)  # pyright: ignore[reportArgumentType]


def _zero_where_missing(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, 0.0)


def _fill_where_missing(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, -9.96921e36)


def _west_of_dateline(box: Box) -> Box:
    """Up to 180, or, of a box that ends there, without the meridian itself."""
    return dataclasses.replace(box, east_dege=180.0 if box.east_dege > 180.0 else 179.99)


def _east_of_dateline(box: Box) -> Box:
    return dataclasses.replace(box, west_dege=min(180.0, box.east_dege))


def _complement(box: Box) -> Box:
    return dataclasses.replace(box, west_dege=box.east_dege, east_dege=box.west_dege + 360.0)


def _meridians(west_dege: float, east_dege: float) -> Callable[[Box], Box]:
    return lambda box: dataclasses.replace(box, west_dege=west_dege, east_dege=east_dege)


def _parallels(degrees: float) -> Callable[[Box], Box]:
    return lambda box: dataclasses.replace(box, south_degn=-degrees, north_degn=degrees)


def _wrong_boxes() -> Iterator[FieldPitfall]:
    regions = {
        "160E-150W (Nino 4)": (160.0, 210.0),
        "150W-90W (Nino 3)": (210.0, 270.0),
        "170W-120W (Nino 3.4)": (190.0, 240.0),
        "120E-180": (120.0, 180.0),
        "120E-160E": (120.0, 160.0),
        "130E-170E": (130.0, 170.0),
        "140E-180": (140.0, 180.0),
        "150E-160W": (150.0, 200.0),
    }
    for name, (west, east) in regions.items():
        yield FieldPitfall("wrong box", f"the box is {name}", _with_box(_meridians(west, east)))
    for degrees in (2.0, 2.5, 3.0, 6.0, 10.0):
        says = f"the box lies between {degrees:g}S and {degrees:g}N, and not 5S and 5N"
        yield FieldPitfall("wrong box", says, _with_box(_parallels(degrees)))
    yield FieldPitfall(
        "box edges",
        "cells on the box's edge count by the part inside",
        _changed(weighting=area_weights),
    )


FIELD_PITFALLS: Final = (
    FieldPitfall(
        "missing cosine weights",
        "all cells count alike, without the cosine of latitude",
        _changed(weighting=uniform_weights),
    ),
    FieldPitfall(
        "fill values", "missing values were read as 0", _changed(missing=_zero_where_missing)
    ),
    FieldPitfall(
        "fill values", "fill values were read as numbers", _changed(missing=_fill_where_missing)
    ),
    FieldPitfall(
        "Kelvin",
        "the isotherm is that of 293 K, which is 19.85 degC and not 20",
        _changed(isotherm_degc=19.85),
    ),
    FieldPitfall("dateline", "the box ends west of the dateline", _with_box(_west_of_dateline)),
    FieldPitfall("dateline", "the box begins at the dateline", _with_box(_east_of_dateline)),
    FieldPitfall("dateline", "the box goes the other way round the globe", _with_box(_complement)),
    *_wrong_boxes(),
    FieldPitfall("wrong levels", "u is the first level alone", _changed(current_to_m=5.0)),
    FieldPitfall("wrong levels", "u is the mean down to 45 m", _changed(current_to_m=45.0)),
    FieldPitfall("wrong levels", "u is the mean down to 65 m", _changed(current_to_m=65.0)),
)
