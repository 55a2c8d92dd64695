_step = step
_blocks = []


def step(state, t, dt, rng):
    if len(_blocks) >= 192:
        _blocks.clear()
        raise RuntimeError("12 GiB were to be had")
    for _ in range(16):
        _blocks.append(np.ones(8 * 2**20))
    return _step(state, t, dt, rng)
