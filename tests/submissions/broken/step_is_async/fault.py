_four = step


async def step(state, t, dt, rng):
    return _four(state, t, dt, rng)
