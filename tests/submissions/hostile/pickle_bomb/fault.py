import tempfile
from pathlib import Path


class Bomb:
    def __reduce__(self):
        return (Path.touch, (Path(tempfile.gettempdir()) / "enso-corpus-unpickled",))


def step(state, t, dt, rng):
    return Bomb()
