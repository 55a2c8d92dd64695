import threading
import time

_step = step
_last = [np.zeros(1)]


def _spoil():
    end = time.monotonic() + 600
    while time.monotonic() < end:
        time.sleep(0.001)
        _last[0] = np.zeros(1)


threading.Thread(target=_spoil, daemon=True).start()


def step(state, t, dt, rng):
    new = _step(state, t, dt, rng)
    _last[0] = new
    return new
