_step = step
_left = 512
_text = b"y" * 2**20


def step(state, t, dt, rng):
    global _left
    if _left > 0:
        _left -= 1
        os.write(1, _text)
        os.write(2, _text)
    return _step(state, t, dt, rng)
