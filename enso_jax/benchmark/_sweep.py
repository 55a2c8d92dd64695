"""What does a sweep of reductions cost in stacks, beside one reduction after another?

Reductions of a model keep its structure, their dropped terms as zeros, so that they run in
stacks of one program. Written down without those terms, each has a structure and programs
of its own. Both in a new process with an empty cache, and a third way: the one program, a
reduction at a time.
"""

from enso_jax.benchmark._jobs import APART, SWEEP, apart_reductions, sweep_reductions
from enso_jax.benchmark._measured import Count, Measured, Seconds
from enso_jax.benchmark._processes import job
from enso_jax.benchmark._setting import Setting, empty_folder
from enso_jax.benchmark._stacks import grade_each, reductions
from enso_jax.benchmark._timing import seconds


class Sweep(Measured):
    """A sweep of `reductions`.

    Attributes:
        stacked_s: in stacks, everything to be compiled.
        apart_s: of `apart_reductions` one after another, each by its own programs.
        ratio: how many times as long the sweep would take apart.
        warm_each_s: of a reduction graded alone by the programs that all share, warm.
    """

    reductions: Count
    stacked_s: Seconds
    apart_reductions: Count
    apart_s: Seconds
    ratio: float
    warm_each_s: Seconds


def sweep(setting: Setting) -> Sweep:
    """Times the three ways."""
    count, few = sweep_reductions(setting), apart_reductions(setting)
    with empty_folder() as cache:
        stacked = job(SWEEP, setting, cache).seconds
    with empty_folder() as cache:
        apart = job(APART, setting, cache).seconds
    alone = reductions(setting.model, few)
    grade_each(alone[:1], setting)
    return Sweep(
        reductions=count,
        stacked_s=stacked,
        apart_reductions=few,
        apart_s=apart,
        ratio=apart / few * count / stacked,
        warm_each_s=seconds(lambda: grade_each(alone, setting)) / few,
    )
