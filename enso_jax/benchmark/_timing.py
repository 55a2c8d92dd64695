"""How long does it take? As the shortest of several times: what else a machine does only adds."""

import time
from collections.abc import Callable, Sequence


def seconds(call: Callable[[], object]) -> float:
    """Of one call."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def shortest(call: Callable[[], object], repeats: int) -> float:
    """The shortest of `repeats` calls, after one that is not counted."""
    return shortest_of_each([call], repeats)[0]


def shortest_of_each(calls: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """The same of several whose ratio matters, in turns, so that all meet the same machine."""
    for call in calls:
        call()
    rounds = [[seconds(call) for call in calls] for _ in range(repeats)]
    return [min(times) for times in zip(*rounds, strict=True)]


class Laps:
    """The times between the calls of it, by the name that it is told.

    What calls it back as each stage ends, such as `grade`, is timed stage by stage.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def __call__(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = now - self._last
        self._last = now
