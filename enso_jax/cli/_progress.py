"""How does long work show that it goes on? A bar on a terminal, nothing on a pipe."""

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


@contextlib.contextmanager
def stage_progress(
    stages: tuple[str, ...], doing: str = "grading"
) -> Iterator[Callable[[str], None]]:
    """A bar on a terminal, nothing on a pipe. Gives what to call as each stage ends."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(doing, total=len(stages))
        yield lambda stage: progress.update(task, advance=1, description=f"{stage} done")


@contextlib.contextmanager
def bytes_progress(doing: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """A bar of bytes on a terminal. Gives what to call with a number of them and a file's name."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(doing, total=total)
        yield lambda count, file: progress.update(
            task, advance=count, description=f"{doing} {file}"
        )
