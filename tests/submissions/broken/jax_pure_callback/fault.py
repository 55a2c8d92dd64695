import numpy as np

_step = step


def step(state, t, dt, key, params):
    new = _step(state, t, dt, key, params)
    return jax.pure_callback(
        lambda x: np.asarray(x) * 1.0, jax.ShapeDtypeStruct(new.shape, new.dtype), new,
        vmap_method="sequential",
    )
