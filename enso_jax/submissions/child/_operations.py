"""Which JAX function computes what a NumPy or SciPy ufunc computes?

JAX follows NumPy's names, so a table is needed only for the few that differ.
"""

from collections.abc import Callable

import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from jax import lax

from enso_jax.submissions.child._errors import Untraceable

#: Names of `scipy.special` that `jax.scipy.special` has under another one.
_RENAMED = {"psi": "digamma", "loggamma": "gammaln"}

#: Exponents up to here are multiplied out.
_LARGEST_POWER = 32


def jax_function(ufunc: np.ufunc) -> Callable:
    """The JAX function of the same name, for arguments of one shape and of the loop's dtypes."""
    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        function = getattr(jnp, name, None)
    else:
        function = getattr(jax.scipy.special, _RENAMED.get(name, name), None)
    if function is None or ufunc.signature is not None:
        raise Untraceable(f"{name} has no counterpart in JAX")
    return function


def power(base, exponent):
    """``base ** exponent``; a whole constant exponent is multiplied out, as NumPy does a square."""
    if isinstance(exponent, np.floating) and abs(exponent) <= _LARGEST_POWER:
        if exponent == int(exponent):
            return lax.integer_pow(base, int(exponent))
        if exponent == 0.5:
            return jnp.sqrt(base)
    return jnp.power(base, exponent)
