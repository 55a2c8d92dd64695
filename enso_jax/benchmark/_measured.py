"""In what are measurements written down? In frozen records, which become one JSON object."""

from typing import Annotated

import pydantic

Seconds = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]
Positive = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]
Count = pydantic.PositiveInt
Number = pydantic.FiniteFloat


class Measured(pydantic.BaseModel):
    """What one part of the benchmark found."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class Skipped(Exception):  # noqa: N818 - an outcome, not an error
    """A part cannot be measured here. Its text is one sentence that says why."""
