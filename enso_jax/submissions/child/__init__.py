"""What runs beside a submission's code, in the child process: NumPy code becomes a JAX function."""
