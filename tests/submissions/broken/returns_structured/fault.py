_step = step
_fields = np.dtype([(name, float) for name in ("T_C", "T_E", "h_W", "u", "tau")])


def step(state, t, dt, rng):
    return np.ascontiguousarray(_step(state, t, dt, rng)).view(_fields)
