"""What is in a folder of gridded fields, whoever laid it out?"""

from enso_jax.observations.fields._axes import layout_of as layout_of
from enso_jax.observations.fields._boxes import Box as Box
from enso_jax.observations.fields._catalogue import KIND_ATTRIBUTE as KIND_ATTRIBUTE
from enso_jax.observations.fields._catalogue import RawFields as RawFields
from enso_jax.observations.fields._catalogue import find_fields as find_fields
from enso_jax.observations.fields._field import Block as Block
from enso_jax.observations.fields._field import Field as Field
from enso_jax.observations.fields._field import field_of as field_of
from enso_jax.observations.fields._field import variable_of as variable_of
from enso_jax.observations.fields._long_series import read_long_series as read_long_series
from enso_jax.observations.fields._netcdf import decoded as decoded
from enso_jax.observations.fields._netcdf import open_netcdf as open_netcdf
from enso_jax.observations.fields._quantities import QUANTITIES as QUANTITIES
from enso_jax.observations.fields._quantities import Quantity as Quantity
from enso_jax.observations.fields._times import months_of as months_of
