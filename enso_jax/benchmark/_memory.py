"""How much memory does a grade take at its peak?

Each is done in a new process with an empty cache, so that compiling is part of it. The figure
is the resident memory of the largest process: of a host grade, of the grader or its sandbox.
"""

from enso_jax.benchmark._jobs import HOST, STACKED, host_protocol_years, stack_size
from enso_jax.benchmark._measured import Count, Measured
from enso_jax.benchmark._processes import grade_command, job
from enso_jax.benchmark._setting import Setting, empty_folder
from enso_jax.submissions import choose


class Memory(Measured):
    """Peaks in bytes.

    Attributes:
        compiled_bytes: of `enso-jax grade fable-5.1`.
        host_bytes: of the NumPy submission by the host engine, with a free run of `host_years`.
        stacked_bytes: of a stack of `checkpoints`; null where stacks are not graded.
    """

    compiled_bytes: Count
    host_bytes: Count
    host_years: Count
    stacked_bytes: Count
    checkpoints: Count


def memory(setting: Setting) -> Memory:
    """Measures the peaks.

    Raises:
        IsolationUnavailable: if there is no sandbox for the host engine.
    """
    choose(None)
    with empty_folder() as cache:
        compiled = grade_command(setting, cache)
    with empty_folder() as cache:
        host = job(HOST, setting, cache)
    with empty_folder() as cache:
        stacked = job(STACKED, setting, cache)
    return Memory(
        compiled_bytes=compiled.peak_bytes,
        host_bytes=host.peak_bytes,
        host_years=host_protocol_years(setting),
        stacked_bytes=stacked.peak_bytes,
        checkpoints=stack_size(setting),
    )
