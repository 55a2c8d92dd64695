from recharge import advance


def step(state, t, dt, rng):
    from recharge.noise import kick

    return advance(state, t, dt) + kick(state, dt, rng)
