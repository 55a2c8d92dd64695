"""Which words do several screens share?"""

from typing import Final

#: Beside every score that rests on the nature run.
AGAINST_SIMULATED: Final = (
    "These scores are against a simulated record, the nature run, not against the "
    "observed El Nino: see `enso-jax observations show`."
)


def counted(number: int, noun: str) -> str:
    """A number of things: ``1 run``, ``2 runs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
