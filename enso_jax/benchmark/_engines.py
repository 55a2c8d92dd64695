"""What does compiling gain? The same NumPy submission by the compiled and by the host engine.

The submission is fable-5.1 as a modeller would write it (`fable/`). The host engine runs in its
sandbox, as in `enso-jax grade DIR --engine host`. Its free run makes 828,000 calls, so a
shorter one is timed and scaled by the number of steps. Reading, tracing and checking the
submission is the same for both engines and is stated once.
"""

import contextlib
from typing import Final

import pydantic

from enso_jax.benchmark._measured import Count, Measured, Seconds
from enso_jax.benchmark._programs import FREE_RUN, experiment_calls, host_run
from enso_jax.benchmark._setting import FOLDER, Setting, with_free_run
from enso_jax.benchmark._timing import Laps, shortest
from enso_jax.grading import grade, submission
from enso_jax.submissions import (
    Examination,
    Patience,
    ProgramStep,
    SubmissionFolder,
    choose,
    examine,
    read_folder,
)

_HOST_YEARS: Final = 100
_HOST_YEARS_QUICK: Final = 20


class EngineTimes(Measured):
    """One experiment, or the whole grade, by both engines."""

    what: str
    host_s: Seconds
    compiled_s: Seconds

    @pydantic.computed_field
    @property
    def ratio(self) -> float:
        """How many times as long the host engine takes."""
        return self.host_s / self.compiled_s


class Engines(Measured):
    """Both engines, compiled programs warm.

    Attributes:
        host_free_run_years: of the free run that was timed; its time is scaled to that of
            `free_run_years`.
        examination_s: to read, trace and check the submission, before either engine.
        host_start_s: to open the sandbox in which the host engine calls it.
        experiments: each alone.
        whole_grade: all of them and the scores, without the examination.
    """

    free_run_years: Count
    host_free_run_years: Count
    examination_s: Seconds
    host_start_s: Seconds
    experiments: tuple[EngineTimes, ...]
    whole_grade: EngineTimes


def engines(setting: Setting) -> Engines:
    """Times both engines.

    Raises:
        IsolationUnavailable: if there is no sandbox for the host engine.
    """
    laps = Laps()
    files = read_folder(FOLDER)
    found = examine(files, setting.protocol.dt, choose(None), Patience())
    laps("examination")
    assert found.program is not None, f"the benchmark's submission compiles: {found.reason}"
    step = ProgramStep(found.program, setting.protocol.dt)
    about = submission(step, FOLDER.name)

    compiled = {
        name: shortest(call, setting.repeats)
        for name, call in experiment_calls(step, setting.record, setting.protocol).items()
    }
    stages = Laps()
    whole = shortest(
        lambda: grade(step, about, setting.record, setting.protocol, done=stages), setting.repeats
    )
    years = min(
        _HOST_YEARS_QUICK if setting.quick else _HOST_YEARS, setting.protocol.free_run_years
    )
    host = _host_times(files, found, setting, years)
    start = host.pop("start")
    host[FREE_RUN] *= setting.protocol.free_run_years / years
    return Engines(
        free_run_years=setting.protocol.free_run_years,
        host_free_run_years=years,
        examination_s=laps.seconds["examination"],
        host_start_s=start,
        experiments=tuple(
            EngineTimes(what=name, host_s=host[name], compiled_s=compiled[name]) for name in host
        ),
        whole_grade=EngineTimes(
            what="whole grade",
            host_s=start + sum(host.values()) + stages.seconds["scores"],
            compiled_s=whole,
        ),
    )


def _host_times(
    files: SubmissionFolder, found: Examination, setting: Setting, years: int
) -> dict[str, float]:
    """Seconds to open the sandbox (``start``), and of each experiment with `years` of free run."""
    protocol = with_free_run(setting.protocol, years)
    with contextlib.ExitStack() as stack:
        laps = Laps()
        run = host_run(files, found, setting.record, protocol, stack)
        laps("start")
        run(done=laps)
    return laps.seconds
