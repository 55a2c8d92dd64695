"""How is a report read on a terminal? As a table for each part."""

from collections.abc import Iterable, Iterator

from rich import box
from rich.table import Table

from enso_jax.benchmark._engines import Engines
from enso_jax.benchmark._floor import Floor
from enso_jax.benchmark._growth import Growth
from enso_jax.benchmark._memory import Memory
from enso_jax.benchmark._precision import Precision, Scores
from enso_jax.benchmark._report import Report
from enso_jax.benchmark._stacked import Stacked
from enso_jax.benchmark._start import Start
from enso_jax.benchmark._sweep import Sweep


def report_tables(report: Report) -> Iterator[Table]:
    """The parts that were measured, in their order."""
    if report.floor is not None:
        yield _floor(report.floor)
    if report.engines is not None:
        yield _engines(report.engines)
    if report.start is not None:
        yield _start(report.start)
    if report.stacked is not None:
        yield _stacked(report.stacked)
    if report.sweep is not None:
        yield _sweep(report.sweep)
    if report.growth is not None:
        yield _growth(report.growth)
    if report.precision is not None:
        yield _precision(report.precision)
    if report.memory is not None:
        yield _memory(report.memory)


def _floor(floor: Floor) -> Table:
    table = _table(
        "Beside a hand-written loop on one thread",
        ("loop", "engine", "loop", "engine", "engine / loop"),
        f"M/s: million steps of a member a second. The loop draws a normal in "
        f"{floor.ziggurat_ns:.1f} ns by a ziggurat; numba's own generator takes "
        f"{floor.numba_normal_ns:.1f}.",
    )
    for pace in floor.paces:
        table.add_row(
            pace.experiment,
            _time(pace.loop_s),
            _time(pace.engine_s),
            f"{pace.loop_member_steps_per_s / 1e6:.1f} M/s",
            f"{pace.engine_member_steps_per_s / 1e6:.1f} M/s",
            f"{pace.ratio:.2f}",
        )
    return table


def _engines(engines: Engines) -> Table:
    scaled = (
        f" The host's free run is scaled from {engines.host_free_run_years} to "
        f"{engines.free_run_years} years."
        if engines.host_free_run_years < engines.free_run_years
        else ""
    )
    table = _table(
        "The same NumPy submission by both engines",
        ("host", "compiled", "host / compiled"),
        f"Programs warm; examining the submission takes either engine "
        f"{_time(engines.examination_s)} before.{scaled}",
    )
    for row in (*engines.experiments, engines.whole_grade):
        table.add_row(row.what, _time(row.host_s), _time(row.compiled_s), f"{row.ratio:.0f}")
    return table


def _start(start: Start) -> Table:
    table = _table("A whole grade of fable-5.1", ("time",))
    table.add_row("new process, empty cache", _time(start.empty_cache_s))
    table.add_row("new process, warm cache", _time(start.warm_cache_s))
    table.add_row("in a process that has graded before", _time(start.warm_process_s))
    return table


def _stacked(stacked: Stacked) -> Table:
    table = _table("Checkpoints graded together", ("first", "warm", "warm, each"))
    for stack in stacked.stacks:
        table.add_row(
            f"{stack.checkpoints}",
            _time(stack.first_s),
            _time(stack.seconds),
            _time(stack.per_checkpoint_s),
        )
    return table


def _sweep(sweep: Sweep) -> Table:
    table = _table("A sweep of reductions", ("reductions", "time", "each"))
    stacked, apart = sweep.stacked_s / sweep.reductions, sweep.apart_s / sweep.apart_reductions
    table.add_row("in stacks", f"{sweep.reductions}", _time(sweep.stacked_s), _time(stacked))
    table.add_row(
        "one after another, each compiled",
        f"{sweep.apart_reductions}",
        _time(sweep.apart_s),
        _time(apart),
    )
    table.add_row("one after another, compiled once, warm", "1", "", _time(sweep.warm_each_s))
    table.add_row("the whole sweep, apart by stacked", "", f"{sweep.ratio:.1f} times", "")
    return table


def _growth(growth: Growth) -> Table:
    table = _table("Growth with size", ("size", "time", "rate"))
    for row in growth.sizes:
        rate = f"{row.member_steps_per_s / 1e6:.1f} M/s"
        table.add_row(row.experiment, f"{row.size} {row.unit}", _time(row.seconds), rate)
    return table


def _precision(precision: Precision) -> Table:
    table = _table(
        "Precision, same seed",
        ("time", "S", "D", "P", "composite"),
        "Below each, minus mixed. float32 and mixed draw the same normals, float64 others, so its "
        "difference holds the sampling errors of two runs. The last line is that of one, from "
        f"{precision.replicates} replicates.",
    )
    for row in precision.precisions:
        table.add_row(row.precision, _time(row.seconds), *_columns(row.scores, ".4f"))
        if row.precision != "mixed":
            table.add_row("  minus mixed", "", *_columns(row.minus_mixed, "+.1e"))
    table.add_row("sampling error of one", "", *_columns(precision.sampling_error, ".1e"))
    return table


def _memory(memory: Memory) -> Table:
    table = _table("Memory at its peak", ("resident",))
    table.add_row("compiled grade", _size(memory.compiled_bytes))
    table.add_row(f"host grade, {memory.host_years} years of free run", _size(memory.host_bytes))
    if memory.stacked_bytes is not None:
        table.add_row(f"{memory.checkpoints} stacked", _size(memory.stacked_bytes))
    return table


def _columns(scores: Scores, form: str) -> list[str]:
    return [format(value, form) for value in scores.model_dump().values()]


def _table(title: str, right: Iterable[str], caption: str | None = None) -> Table:
    table = Table(
        title=f"[bold]{title}[/bold]",
        title_style="",
        title_justify="left",
        caption=caption,
        caption_justify="left",
        box=box.SIMPLE,
        pad_edge=False,
        show_edge=False,
    )
    table.add_column("")
    for name in right:
        table.add_column(name, justify="right")
    return table


def _time(seconds: float) -> str:
    """With three digits, in the unit that suits."""
    if seconds < 1.0:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.0f} s" if seconds >= 100.0 else f"{seconds:.3g} s"


def _size(number: int) -> str:
    return f"{number / 2**20:.0f} MiB"
