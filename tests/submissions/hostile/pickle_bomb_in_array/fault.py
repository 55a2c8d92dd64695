import tempfile
from pathlib import Path


class Bomb:
    def __float__(self):
        return 0.0

    def __reduce__(self):
        return (Path.touch, (Path(tempfile.gettempdir()) / "enso-corpus-unpickled",))


def step(state, t, dt, rng):
    out = np.empty(state.shape, dtype=object)
    out[...] = Bomb()
    return out
