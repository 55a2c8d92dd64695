"""Of what may a drift be made?

Of columns, each a harmonic of the year times a feature of the state,
``h(t) f(x)``:

- the constant and the five variables, with every harmonic;
- with the annual harmonics alone: products of two and of three variables, their powers
  among them; saturating squares; one-sided powers.

``x`` itself is ``x [x > 0] - (-x) [-x > 0]``, so the one-sided powers need no mirror image.
"""

import dataclasses
import functools
import itertools
from collections.abc import Mapping
from typing import Final

import numpy as np
from jaxtyping import Array, Float

from enso_jax.models import HARMONICS, Feature, Monomial, OneSided, Saturating
from enso_jax.models import feature as read_feature
from enso_jax.state import NAMES

_ANNUAL: Final = HARMONICS[:3]
#: Where a saturating square bends, in standard deviations of its variable, to begin with.
#: Closer to zero it is a constant, farther out a square.
_BENDS: Final = (0.7, 1.4, 2.8, 5.6)

#: The nondimensional variables, or the harmonics, by name, one value for each sample.
Values = Mapping[str, Float[Array, " sample"]]


@dataclasses.dataclass(frozen=True)
class Column:
    """``h(t) f(x)``, with f as its formula: a feature's numbers are arrays, which compare badly."""

    formula: str
    harmonic: str

    @functools.cached_property
    def feature(self) -> Feature:
        return read_feature(self.formula)

    @property
    def saturates(self) -> str | None:
        """The variable of its saturating square, None if it has none."""
        return self.feature.variable if isinstance(self.feature, Saturating) else None


@dataclasses.dataclass(frozen=True)
class Library:
    """Columns and their values, each divided by its root mean square.

    Attributes:
        columns: the six linear features at no season first, see `ALWAYS`.
        values: 0 in a column that never differs from zero.
        sizes: the root mean squares; 1 in a column of zeros.
        moments: the mean products of the columns.
    """

    columns: tuple[Column, ...]
    values: Float[np.ndarray, "column sample"]
    sizes: Float[np.ndarray, " column"]
    moments: Float[np.ndarray, "column column"]

    def indices(self, formula: str) -> list[int]:
        """Which columns are made of that feature."""
        return [number for number, column in enumerate(self.columns) if column.formula == formula]

    def replaced(self, formula: str, by: str, x: Values, seasons: Values) -> "Library":
        """The library with one feature in another's place."""
        places = self.indices(formula)
        columns, values, sizes = list(self.columns), self.values.copy(), self.sizes.copy()
        for place in places:
            columns[place] = Column(by, columns[place].harmonic)
        values[places], sizes[places] = evaluated([columns[at] for at in places], x, seasons)
        moments = self.moments.copy()
        moments[places] = values[places] @ values.T / values.shape[1]
        moments[:, places] = moments[places].T
        return Library(tuple(columns), values, sizes, moments)


#: The columns that every drift may use unasked: the paper's linear operator and its constant.
ALWAYS: Final = tuple(range(len(NAMES) + 1))


def library(x: Values, seasons: Values) -> Library:
    """All columns, at the given states and seasons."""
    linear = [*NAMES, Monomial(()).text()]
    nonlinear = [feature.text() for feature in _nonlinear(x)]
    columns = [Column(formula, HARMONICS[0]) for formula in linear]
    columns += [Column(formula, harmonic) for formula in linear for harmonic in HARMONICS[1:]]
    columns += [Column(formula, harmonic) for formula in nonlinear for harmonic in _ANNUAL]
    values, sizes = evaluated(columns, x, seasons)
    return Library(tuple(columns), values, sizes, values @ values.T / values.shape[1])


def evaluated(
    columns: list[Column], x: Values, seasons: Values
) -> tuple[Float[np.ndarray, "column sample"], Float[np.ndarray, " column"]]:
    """The values of columns of root mean square 1, and what they were divided by."""
    features = {column.formula: column.feature for column in columns}
    shapes = {formula: np.asarray(feature(x)) for formula, feature in features.items()}
    cycles = {name: np.asarray(cycle) for name, cycle in seasons.items()}
    values = np.stack([shapes[c.formula] * cycles[c.harmonic] for c in columns])
    sizes = np.sqrt(np.mean(values**2, axis=1))
    sizes[sizes == 0.0] = 1.0
    return values / sizes[:, None], sizes


def _nonlinear(x: Values) -> list[Feature]:
    products = [
        Monomial(tuple((name, names.count(name)) for name in dict.fromkeys(names)))
        for degree in (2, 3)
        for names in itertools.combinations_with_replacement(NAMES, degree)
    ]
    one_sided = [OneSided(name, power) for name in NAMES for power in (1, 2)]
    saturating = [
        Saturating(name, bend * deviation)
        for name, deviation in zip(NAMES, (float(np.std(x[name])) for name in NAMES), strict=True)
        if deviation > 0.0
        for bend in _BENDS
    ]
    return [*products, *one_sided, *saturating]
