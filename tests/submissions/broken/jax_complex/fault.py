_step = step


def step(state, t, dt, key, params):
    return jnp.fft.ifft(jnp.fft.fft(_step(state, t, dt, key, params)))
