"""What did the ocean do, month by month, and which of it was really measured?

A `Record` is all that the graders know of nature: three monthly series, the
regression that turns two indices into SST along the equator, and the counts of
El Nino and La Nina events. It is plain NumPy, it cannot be changed, and it is
the same whether it was measured or simulated; only `Record.kind` tells.
"""

import dataclasses
import hashlib
import operator
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from enso_jax.protocol import EVENT_TYPES
from enso_jax.state import MONTHS_PER_YEAR, month_label

Kind = Literal["measured", "simulated"]
KINDS: Final = get_args(Kind)


class _Frozen:
    """Makes copying and unpickling go through `__init__`.

    NumPy forgets that an array is read-only when it is pickled, and a mapping
    proxy cannot be pickled at all; a record sent to a worker must arrive whole
    and as immutable as it left.
    """

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        values = (getattr(self, field.name) for field in dataclasses.fields(self))  # pyright: ignore[reportArgumentType]
        return type(self), tuple(dict(v) if isinstance(v, Mapping) else v for v in values)

    def _freeze(self, name: str, dtype: type) -> None:
        """Replaces the array `name` by a copy of its own that is read-only."""
        array = np.array(getattr(self, name), dtype=dtype)
        array.setflags(write=False)
        object.__setattr__(self, name, array)


@dataclasses.dataclass(frozen=True, eq=False)
class Series(_Frozen):
    """A monthly series without gaps that begins in a January.

    Attributes:
        first_month: integer date of the first row (`state.month_index`).
        names: the variables, one per column: `state.NAMES` or its first two.
        values: (months, variables), float64, in the units of `state.VARIABLES`;
            NaN where a value is missing. Read-only.
        measured: (months, variables), bool; False where the value is a stand-in
            (estimated from other observations) or missing. In a simulated record
            what the simulation gives counts as measured. Read-only.

    Raises:
        ValueError: if the shapes disagree, the first month is not a January, or
            a missing value is said to be measured.
    """

    first_month: int
    names: tuple[str, ...]
    values: np.ndarray
    measured: np.ndarray

    def __post_init__(self) -> None:
        self._freeze("values", np.float64)
        self._freeze("measured", np.bool_)
        if self.values.ndim != 2 or self.values.shape[1] != len(self.names):
            raise ValueError(f"values {self.values.shape} do not have the columns {self.names}")
        if self.measured.shape != self.values.shape:
            raise ValueError(f"measured {self.measured.shape} is not as values {self.values.shape}")
        if self.first_month % MONTHS_PER_YEAR != 0:
            raise ValueError(f"begins in {month_label(self.first_month)}, not in a January")
        if np.any(self.measured & np.isnan(self.values)):
            raise ValueError("a missing value (NaN) cannot be measured")

    @property
    def months(self) -> int:
        """How many months the series has."""
        return len(self.values)

    @property
    def labels(self) -> list[str]:
        """The date of every row, ``YYYY-MM``."""
        return [month_label(self.first_month + row) for row in range(self.months)]

    @property
    def is_stand_in(self) -> np.ndarray:
        """(months, variables) bool: where there is a value that was not measured."""
        return np.isfinite(self.values) & ~self.measured

    @property
    def stand_ins(self) -> int:
        """How many values are there without having been measured."""
        return int(np.sum(self.is_stand_in))

    def measured_only(self) -> "Series":
        """The same series with NaN in place of every stand-in."""
        return dataclasses.replace(self, values=np.where(self.is_stand_in, np.nan, self.values))


@dataclasses.dataclass(frozen=True, eq=False)
class SstProfile(_Frozen):
    """The SST anomaly along the equator (mean of 5S-5N) that goes with T_C and T_E.

    Attributes:
        longitude: (longitudes,), degrees east, increasing.
        constant: (longitudes,), degC.
        east: (longitudes,), degC of SST per degC of T_E.
        central: (longitudes,), degC of SST per degC of T_C.

    The record of the reference literature has 161 longitudes. All arrays are
    read-only.

    Raises:
        ValueError: if the four are not one-dimensional and of one length.
    """

    longitude: np.ndarray
    constant: np.ndarray
    east: np.ndarray
    central: np.ndarray

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            self._freeze(field.name, np.float64)
            if getattr(self, field.name).shape != (self.longitude.size,):
                raise ValueError(f"{field.name} does not have one value for each longitude")

    def __call__(self, T_C: ArrayLike, T_E: ArrayLike) -> np.ndarray:
        """The anomaly at every longitude::

            SST(longitude) = constant + T_E * east + T_C * central

        Args:
            T_C: (...), degC.
            T_E: (...), degC, of a shape that broadcasts with `T_C`.

        Returns:
            (..., longitudes), degC; NaN throughout where `T_C` or `T_E` is NaN.
        """
        east_part = np.asarray(T_E)[..., np.newaxis] * self.east
        central_part = np.asarray(T_C)[..., np.newaxis] * self.central
        return self.constant + east_part + central_part


@dataclasses.dataclass(frozen=True, eq=False)
class Record(_Frozen):
    """What nature, or a simulated nature, did. Compare two records by `digest`.

    Attributes:
        name: a short name, shown with every result.
        kind: "measured" or "simulated".
        description: where it comes from, in a sentence.
        long: T_C and T_E over many decades, for the statistics.
        development: all five variables, what a modeller is given and what the
            reconstruction test uses.
        held_out: all five variables, later than `development`, for the forecasts.
        profile: SST along the equator from T_C and T_E.
        event_counts: events of each of `EVENT_TYPES` (in that order) in the
            years of `long`. Read-only.
        peaks: (events, 2), strength in degC and longitude in degrees east of the
            peak of each observed event, or None where they are not known.
            Read-only.
        digest: 64 hexadecimal digits; two records with one digest hold the same
            data.

    Raises:
        KeyError: if an event type has no count.
        ValueError: if `kind` or the shape of `peaks` is anything else.
    """

    name: str
    kind: Kind
    description: str
    long: Series
    development: Series
    held_out: Series
    profile: SstProfile
    event_counts: Mapping[str, int]
    peaks: np.ndarray | None
    digest: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind!r} is not one of {KINDS}")
        counts = {event: operator.index(self.event_counts[event]) for event in EVENT_TYPES}
        object.__setattr__(self, "event_counts", MappingProxyType(counts))
        if self.peaks is None:
            return
        self._freeze("peaks", np.float64)
        if self.peaks.ndim != 2 or self.peaks.shape[1] != 2:
            raise ValueError(f"peaks {self.peaks.shape} do not have a strength and a longitude")

    @property
    def simulated(self) -> bool:
        """Whether this is a model's nature and not the real one."""
        return self.kind == "simulated"

    @property
    def stand_ins(self) -> int:
        """How many values in the three series are there without having been measured."""
        return self.long.stand_ins + self.development.stand_ins + self.held_out.stand_ins

    def measured_only(self) -> "Record":
        """The same record with NaN in place of every stand-in, under a digest of its own.

        A record without stand-ins is returned as it is.
        """
        if self.stand_ins == 0:
            return self
        return dataclasses.replace(
            self,
            long=self.long.measured_only(),
            development=self.development.measured_only(),
            held_out=self.held_out.measured_only(),
            digest=hashlib.sha256(f"{self.digest} measured-only".encode()).hexdigest(),
        )
