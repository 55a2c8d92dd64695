import tempfile
from pathlib import Path


class Bomb(Exception):
    def __reduce__(self):
        return (Path.touch, (Path(tempfile.gettempdir()) / "enso-corpus-unpickled",))


Bomb.__name__ = Bomb.__qualname__ = "GraderError"


def step(state, t, dt, rng):
    raise Bomb("the grader failed")
