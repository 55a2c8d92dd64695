"""Under which rules is a model graded?

One frozen object holds every constant that a score depends on. Its digest goes
into every result: two scores may be compared when their digests agree.

Each constant names where it comes from:

- *printed*: in the paper "SciExam for ENSO" (Sections 3.3, Appendix C);
- *literature*: from the studies whose tests the paper adopts;
- *calibrated*: not printed; chosen because the paper's two printed models then
  get their printed scores on the measured record;
- *ours*: not printed, and the scores hardly depend on it.
"""

import dataclasses
import hashlib
import json
from typing import Final, Literal

import pydantic

#: El Nino, eastern, central, extreme and multi-year; La Nina and multi-year La Nina.
EVENT_TYPES: Final = ("EN", "EP", "CP", "EX", "MYEN", "LN", "MYLN")

Precision = Literal["float32", "float64"]


@dataclasses.dataclass(frozen=True)
class Protocol:
    """The constants of the three experiments and of the scores. Months unless a unit is named.

    Raises:
        ValueError: if a constant is out of its range, with the constant's name.
    """

    # --- stepping -------------------------------------------------------------
    #: Steps per month, so that dt = 1/30 (ours).
    steps_per_month: int = 30
    #: Type of the state (ours).
    state_dtype: Precision = "float64"
    #: Type of the standard normals that drive it (ours: half the cost of float64).
    noise_dtype: Precision = "float32"

    # --- free run and its statistics ------------------------------------------
    #: Length of the free run, from the zero state (printed).
    free_run_years: int = 2300
    #: Years dropped at its start (printed).
    free_run_spin_up_years: int = 200
    #: Segments for PDF, seasonal variance and ACF (printed).
    segment_years: int = 70
    #: Segments in which events are counted (printed).
    event_segment_years: int = 71
    #: The PDFs' grid, from minus to plus `pdf_limit_degc` (ours).
    pdf_limit_degc: float = 4.0
    pdf_points: int = 161
    #: Longest lag of the ACF (literature).
    acf_max_lag: int = 60
    #: Tolerance on a curve, as a share of the observed curve's range (printed).
    curve_tolerance: float = 0.35
    #: A winter (December-February mean) beyond it is an event (printed).
    event_threshold_degc: float = 0.5
    #: An El Nino winter whose T_E reaches it is extreme (printed; on the winter mean: calibrated).
    extreme_threshold_degc: float = 2.5
    #: Tolerance on an event count, as a share of the observed count (printed).
    count_tolerance: float = 0.2
    #: Where the peak of an event is looked for (literature).
    peak_longitudes_dege: tuple[float, float] = (140.0, 280.0)
    #: Events that peak east of it are eastern (printed: 150 W).
    divide_longitude_dege: float = 210.0
    #: Excess of the eastern over the western mean strength that is full marks (printed).
    strength_excess_degc: float = 0.5
    #: Share of the simulated events that the region of strength and location holds (printed).
    region_probability: float = 0.95

    # --- smoother -------------------------------------------------------------
    #: Members, all from the zero state (printed).
    smoother_members: int = 500
    #: Preceding months that each month's observations revise (printed).
    smoother_lag: int = 3
    #: Observation error, as a share of the index's standard deviation (calibrated).
    observation_error: float = 0.4
    #: Months at the start that are not scored (printed: two years).
    smoother_spin_up_months: int = 24

    # --- forecasts ------------------------------------------------------------
    #: Members, all from the observed state (printed).
    forecast_members: int = 50
    #: Longest lead (printed).
    forecast_leads: int = 12
    #: Fewest targets that make an extreme skill (printed).
    extreme_pool_minimum: int = 10
    #: Weight of the extreme skill in the predictive score (printed).
    extreme_weight: float = 0.3

    # --- composite ------------------------------------------------------------
    #: Weights of the statistical, dynamical and predictive scores (printed).
    weights: tuple[float, float, float] = (0.3, 0.3, 0.4)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            numbers = value if isinstance(value, tuple) else (value,)
            if any(isinstance(number, int | float) and number < 0 for number in numbers):
                raise ValueError(f"{field.name} is {value}; it cannot be negative")
        if self.free_run_months < 12 * self.event_segment_years:
            raise ValueError(
                f"a free run of {self.free_run_years} years, less {self.free_run_spin_up_years} of "
                f"spin-up, is shorter than one segment of {self.event_segment_years} years"
            )
        if self.smoother_members < 10 or self.forecast_members < 1:
            raise ValueError("an ensemble needs members: 10 for the smoother, 1 for forecasts")

    @property
    def dt(self) -> float:
        """Length of a step, months."""
        return 1.0 / self.steps_per_month

    @property
    def free_run_months(self) -> int:
        """Months of the free run that are kept, after the spin-up."""
        return 12 * (self.free_run_years - self.free_run_spin_up_years)

    def to_json(self) -> str:
        """Every constant by name, one text for one protocol."""
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Protocol":
        """The protocol that `to_json` wrote.

        Raises:
            pydantic.ValidationError: if `text` is anything else.
        """
        return pydantic.TypeAdapter(cls).validate_json(text)

    def digest(self) -> str:
        """SHA-256 over the constants' names and values."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()
