"""How does the cost of an experiment grow with its size?

With the years of the free run and with the members of the ensembles. How it grows with the
number of checkpoints is the part `stacked`.
"""

import dataclasses
from collections.abc import Iterator

import pydantic

from enso_jax.benchmark._measured import Count, Measured, Seconds
from enso_jax.benchmark._programs import (
    FORECASTS,
    FREE_RUN,
    SMOOTHER,
    experiment_calls,
    member_steps,
)
from enso_jax.benchmark._setting import Setting, with_free_run
from enso_jax.benchmark._timing import shortest
from enso_jax.protocol import Protocol


class SizeTime(Measured):
    """One experiment at one size: years or members, as `unit` says."""

    experiment: str
    unit: str
    size: Count
    member_steps: Count
    seconds: Seconds

    @pydantic.computed_field
    @property
    def member_steps_per_s(self) -> float:
        return self.member_steps / self.seconds


class Growth(Measured):
    """The experiments, by size."""

    sizes: tuple[SizeTime, ...]


def growth(setting: Setting) -> Growth:
    """Times each experiment at several sizes."""
    return Growth(sizes=tuple(_time(setting, *case) for case in _cases(setting)))


def _cases(setting: Setting) -> Iterator[tuple[str, str, int, Protocol]]:
    """Experiment, unit, size, and the protocol that makes it so."""
    protocol = setting.protocol
    years, smoother = protocol.free_run_years, protocol.smoother_members
    forecast = protocol.forecast_members
    quick = setting.quick
    for size in (years // 2, years) if quick else (years // 4, years // 2, years):
        yield FREE_RUN, "years", size, with_free_run(protocol, size)
    for size in (smoother // 2, smoother) if quick else _around(smoother):
        yield SMOOTHER, "members", size, dataclasses.replace(protocol, smoother_members=size)
    for size in (forecast // 2, forecast) if quick else (forecast // 2, forecast, 2 * forecast):
        yield FORECASTS, "members", size, dataclasses.replace(protocol, forecast_members=size)


def _around(size: int) -> tuple[int, ...]:
    return size // 4, size // 2, size, 2 * size


def _time(setting: Setting, experiment: str, unit: str, size: int, protocol: Protocol) -> SizeTime:
    call = experiment_calls(setting.model, setting.record, protocol)[experiment]
    return SizeTime(
        experiment=experiment,
        unit=unit,
        size=size,
        member_steps=member_steps(setting.record, protocol)[experiment],
        seconds=shortest(call, setting.repeats),
    )
