def step(state, t, dt, key, params):
    return state * params["damping"]
