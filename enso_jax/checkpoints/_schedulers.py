"""Who does the work: this process, processes beside it, or a cluster?

All do the same, a task at a time, and give each result as soon as it is there. On a
cluster (Dask) a worker that dies costs its tasks another try; results come back to this
process, so that workers need no disk in common with it.
"""

import abc
import contextlib
import importlib.util
import logging
import multiprocessing.resource_tracker
import os
import shutil
import signal
import urllib.parse
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import jax

from enso_jax.checkpoints._task import Task
from enso_jax.grading import GradeResult, structure
from enso_jax.own_process import set_up_jax

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

#: What became of a task: its results, or the error that it ended with.
Outcome = list[GradeResult] | Exception
Grade = Callable[[Task], list[GradeResult]]

_FORMS: Final = "here, local:N, tcp://HOST:PORT or slurm:JOBS"
_SLURM_JOBS: Final = 8
#: For processes that have the cores of one machine between them.
_ONE_THREAD: Final = ("--xla_cpu_multi_thread_eigen=false",)


class SchedulerError(Exception):
    """There is no such scheduler here. Its text is one sentence."""


class Scheduler(abc.ABC):
    """Has tasks done."""

    @abc.abstractmethod
    def outcomes(self, grade: Grade, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        """What became of each task, in the order in which they end."""


class ThisProcess(Scheduler):
    """One task after another."""

    def outcomes(self, grade, tasks):
        for task in tasks:
            try:
                yield task, grade(task)
            except Exception as error:
                yield task, error


class Cluster(Scheduler):
    """Dask workers, reached through a client."""

    def __init__(self, client: "Client") -> None:
        self._client = client

    def outcomes(self, grade, tasks):
        from distributed import as_completed

        # Pure: the same task is never computed twice; a task whose worker dies is tried again.
        futures = self._client.map(grade, tasks, retries=0, pure=False)
        task_of = dict(zip(futures, tasks, strict=True))
        for future in as_completed(futures):
            error = future.exception()
            yield task_of[future], future.result() if error is None else _as_exception(error)


class WhereItPays(Scheduler):
    """This process for one structure; one local process per core as soon as there are more."""

    def __init__(self, stack: contextlib.ExitStack, device: str) -> None:
        self._stack = stack
        self._device = device
        self._cluster: Cluster | None = None

    def outcomes(self, grade, tasks):
        # A GPU is one, and has room for the programs of one process.
        if self._cluster is None and _structures(tasks) > 1 and jax.default_backend() == "cpu":
            self._cluster = self._stack.enter_context(_local(_cores(), self._device))
        yield from (self._cluster or ThisProcess()).outcomes(grade, tasks)


@contextlib.contextmanager
def scheduler(address: str | None, device: str = "auto") -> Iterator[Scheduler]:
    """The scheduler at `address`, until the block ends; with it ends what it started.

    Args:
        address: ``local:N`` for N processes here, ``tcp://HOST:PORT`` for a Dask scheduler that
            runs, ``slurm:N`` for N jobs as the user's Dask configuration describes them,
            ``here`` for this process; None for whichever is faster here.
        device: on which workers compute, as `set_up_jax`.

    Raises:
        SchedulerError: if it is none of these, cannot be reached, or Dask is not installed.
    """
    with contextlib.ExitStack() as stack:
        if address == "here" or (address is None and not _installed("distributed")):
            yield ThisProcess()
        elif address is None:
            yield WhereItPays(stack, device)
        else:
            yield stack.enter_context(_cluster(address, device))


def _cluster(address: str, device: str) -> contextlib.AbstractContextManager[Cluster]:
    _require("distributed")
    kind, _, rest = address.partition(":")
    count = int(rest) if rest.isdecimal() else 0
    if kind == "local" and (count or not rest):
        return _local(count or _cores(), device)
    if kind == "slurm" and (count or not rest):
        return _slurm(count or _SLURM_JOBS, device)
    if kind in ("tcp", "tls") and _has_host_and_port(address):
        return _at(address, device)
    raise SchedulerError(f"There is no scheduler {address!r}: give {_FORMS}.")


@contextlib.contextmanager
def _local(processes: int, device: str) -> Iterator[Cluster]:
    from dask import config
    from distributed import LocalCluster

    # A new interpreter for each, which takes over nothing from this one; no page to watch them on.
    settings = {"distributed.worker.multiprocessing-method": "spawn"}
    with config.set(settings), _quiet():
        cluster = LocalCluster(
            n_workers=0, threads_per_worker=1, memory_limit=0, dashboard_address=""
        )
        with cluster:
            _keep_ctrl_c_from_workers(cluster)
            cluster.scale(processes)
            with _client(cluster) as client:
                yield _set_up(client, device, _ONE_THREAD if processes > 1 else ())


@contextlib.contextmanager
def _at(address: str, device: str) -> Iterator[Cluster]:
    with _quiet():
        try:
            opened = _client(address)
        except OSError as error:
            raise SchedulerError(
                f"No Dask scheduler answers at {address}: start one with `dask scheduler`."
            ) from error
        except TypeError as error:  # of Dask, for tls:// without certificates
            raise SchedulerError(
                f"{address} needs certificates: name them in your Dask configuration, "
                "under distributed.comm.tls."
            ) from error
        with opened as client:
            yield _set_up(client, device)


@contextlib.contextmanager
def _slurm(jobs: int, device: str) -> Iterator[Cluster]:
    _require("dask_jobqueue")
    from dask_jobqueue.slurm import SLURMCluster

    if shutil.which("sbatch") is None:
        raise SchedulerError("There is no sbatch here: run this where SLURM jobs are submitted.")
    with _quiet():
        try:
            cluster = SLURMCluster()
        except (TypeError, ValueError) as error:
            raise SchedulerError(
                "The SLURM jobs are not described: write cores and memory under jobqueue.slurm in "
                f"your Dask configuration, as docs/runs.md shows ({str(error).splitlines()[0]})."
            ) from error
        with cluster, _client(cluster) as client:
            cluster.scale(jobs=jobs)
            yield _set_up(client, device)


def _client(place: Any) -> "Client":
    from distributed import Client

    return Client(place, timeout="10s")


def _set_up(client: "Client", device: str, xla_flags: Sequence[str] = ()) -> Cluster:
    """The cluster of a client, with JAX set up in each worker as in the program."""
    from distributed import WorkerPlugin

    class OwnWorkers(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            set_up_jax(*xla_flags, device=device)

    client.register_plugin(OwnWorkers(), name="enso-jax")
    return Cluster(client)


def _keep_ctrl_c_from_workers(cluster: "LocalCluster") -> None:
    """Ctrl-C is for this process, which then ends its workers; they would say a page each.

    A terminal sends it to all of them. A new process takes over which signals are blocked
    from the thread that starts it, here the cluster's own.
    """

    async def block() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    # Started with the first worker, it would unblock the signal again.
    multiprocessing.resource_tracker.ensure_running()
    cluster.sync(block)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps to itself what Dask says of workers that come and go."""
    # For good: interrupted, Dask's objects are only closed when they are collected, after this.
    warnings.filterwarnings("ignore", "coroutine '.*' was never awaited", RuntimeWarning)
    loggers = [logging.getLogger(name) for name in ("distributed", "bokeh", "tornado")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _has_host_and_port(address: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(address)
        return bool(parts.hostname and parts.port)
    except ValueError:
        return False


def _structures(tasks: Sequence[Task]) -> int:
    return len({structure(task.steps[0]) for task in tasks})


def _as_exception(error: BaseException) -> Exception:
    return error if isinstance(error, Exception) else RuntimeError(repr(error))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _require(module: str) -> None:
    if not _installed(module):
        raise SchedulerError(
            f"A scheduler needs {module}, which is not installed: pip install 'enso-jax[cluster]'."
        )
