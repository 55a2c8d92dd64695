"""How long does a user wait for a grade: the first time, the next time, and in a session?"""

from enso_jax.benchmark._measured import Measured, Seconds
from enso_jax.benchmark._processes import grade_command
from enso_jax.benchmark._setting import MODEL, Setting, empty_folder
from enso_jax.benchmark._timing import shortest
from enso_jax.grading import grade, submission


class Start(Measured):
    """Whole grades of fable-5.1.

    Attributes:
        empty_cache_s: `enso-jax grade` in a new process, everything to be compiled.
        warm_cache_s: the same again, compiled programs in the cache.
        warm_process_s: a call of `grade` in a process that has called it before.
    """

    empty_cache_s: Seconds
    warm_cache_s: Seconds
    warm_process_s: Seconds


def start(setting: Setting) -> Start:
    """Times them. The commands grade by the standard protocol, however quick the look."""
    model, again = setting.model, 1 if setting.quick else 3
    with empty_folder() as cache:
        empty = grade_command(setting, cache).seconds
        warm = min(grade_command(setting, cache).seconds for _ in range(again))
    about = submission(model, MODEL, form="built-in")
    in_process = shortest(
        lambda: grade(model, about, setting.record, setting.protocol), setting.repeats
    )
    return Start(empty_cache_s=empty, warm_cache_s=warm, warm_process_s=in_process)
