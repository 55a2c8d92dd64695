jax.config.update("jax_enable_x64", False)
jax.config.update("jax_debug_nans", True)
jax.config.update("jax_disable_jit", True)
