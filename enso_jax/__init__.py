"""Grades low-order stochastic models of El Nino on statistics, dynamics and prediction."""

from importlib.metadata import version as _version

__version__ = _version("enso-jax")
