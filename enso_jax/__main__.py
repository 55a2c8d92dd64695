"""`python -m enso_jax` is `enso-jax`."""

from enso_jax.cli import main

main()
