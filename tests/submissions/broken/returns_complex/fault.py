_values, _vectors = np.linalg.eig(A)
_inverse = np.linalg.inv(_vectors)


def step(state, t, dt, rng):
    G = _vectors @ np.diag(np.exp(_values * dt)) @ _inverse
    return state @ G.T + SIGMA * np.sqrt(dt) * rng.standard_normal(state.shape)
