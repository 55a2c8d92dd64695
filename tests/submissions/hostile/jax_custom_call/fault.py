_step = step


def step(state, t, dt, key, params):
    new = _step(state, t, dt, key, params)
    call = jax.ffi.ffi_call("xla_python_cpu_callback", jax.ShapeDtypeStruct(new.shape, new.dtype))
    return call(new)
