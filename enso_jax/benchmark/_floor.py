"""How near is the engine to what a core can do? Beside a loop written by hand for one model.

`enso_jax.benchmark._loop` runs the three experiments of fable-5.1 in float64 on one thread.
Per step of one member the engine takes so many times as long.
"""

import importlib.util
from collections.abc import Callable

import numpy as np
import pydantic

from enso_jax.benchmark._measured import Count, Measured, Positive, Seconds, Skipped
from enso_jax.benchmark._programs import (
    FORECASTS,
    FREE_RUN,
    SMOOTHER,
    experiment_calls,
    member_steps,
)
from enso_jax.benchmark._setting import Setting
from enso_jax.benchmark._timing import shortest, shortest_of_each
from enso_jax.grading._inputs import experiment_inputs
from enso_jax.state import MONTHS_PER_YEAR

_NORMALS = 100_000


class Pace(Measured):
    """One experiment by the loop and by the engine."""

    experiment: str
    member_steps: Count
    loop_s: Seconds
    engine_s: Seconds

    @pydantic.computed_field
    @property
    def loop_member_steps_per_s(self) -> float:
        return self.member_steps / self.loop_s

    @pydantic.computed_field
    @property
    def engine_member_steps_per_s(self) -> float:
        return self.member_steps / self.engine_s

    @pydantic.computed_field
    @property
    def ratio(self) -> float:
        """How many times as long the engine takes."""
        return self.engine_s / self.loop_s


class Floor(Measured):
    """The experiments, and what one normal costs by the generators that were tried.

    The loop uses the ziggurat.
    """

    ziggurat_ns: Positive
    numba_normal_ns: Positive
    paces: tuple[Pace, ...]


def floor(setting: Setting) -> Floor:
    """Times the loop and the engine.

    Raises:
        Skipped: without numba.
    """
    if importlib.util.find_spec("numba") is None:
        raise Skipped("numba is not installed: pip install 'enso-jax[benchmark]'.")
    from enso_jax.benchmark import _normals

    normals, words = np.empty(_NORMALS), _normals.generator(0)
    by_ziggurat = shortest(lambda: _normals.fill(normals, words), setting.repeats)
    by_numba = shortest(lambda: _normals.fill_by_numba(normals), setting.repeats)
    engine = experiment_calls(setting.model, setting.record, setting.protocol)
    steps = member_steps(setting.record, setting.protocol)
    paces = []
    for name, loop in _loops(setting).items():
        by_loop, by_engine = shortest_of_each((loop, engine[name]), setting.repeats)
        paces.append(
            Pace(
                experiment=name,
                member_steps=steps[name],
                loop_s=by_loop,
                engine_s=by_engine,
            )
        )
    return Floor(
        ziggurat_ns=1e9 * by_ziggurat / _NORMALS,
        numba_normal_ns=1e9 * by_numba / _NORMALS,
        paces=tuple(paces),
    )


def _loops(setting: Setting) -> dict[str, Callable[[], object]]:
    """For each experiment a call that runs it by the loop."""
    from enso_jax.benchmark import _loop, _normals

    protocol, words = setting.protocol, _normals.generator(0)
    inputs = experiment_inputs(setting.record, protocol, 0, 1)
    months = protocol.free_run_years * MONTHS_PER_YEAR
    tests, error, initial = (
        np.asarray(values) / _loop.SCALES for values in (inputs.tests, inputs.error, inputs.initial)
    )
    # As in the engine, a start that is not complete is run from zero and not counted.
    initial = np.where(np.isfinite(initial).all(axis=1, keepdims=True), initial, 0.0)
    starts = np.asarray(inputs.start_months)
    lag, members = protocol.smoother_lag, protocol.smoother_members
    return {
        FREE_RUN: lambda: _loop.free_run(months, words),
        SMOOTHER: lambda: _loop.smooth(tests, error, lag, members, words),
        FORECASTS: lambda: _loop.forecasts(
            initial, starts, protocol.forecast_leads, protocol.forecast_members, words
        ),
    }
