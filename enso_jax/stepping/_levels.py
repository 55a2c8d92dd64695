"""What of a step depends on its parameters alone, what on time too, and what on the state?

A step's seasons are the same for every member, and known before a run begins. Its
equations are therefore sorted into four levels::

    fixed  = f(parameters)                          once
    early  = g(fixed, t)                            for many times at once
    season = s(fixed, early)                        for many times, or in the step
    state  = h(fixed, early, season, state, noise)  all that is left to do, step by step

Early is what costs more than to be read: cosines, divisions, lookups, and what they need.
The rest of what depends on time alone, sums of harmonics and the like, is the season: an
ensemble has it made once for all members, a single state as cheaply in its own step.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core
from jaxtyping import Array

from enso_jax.jaxprs import computed, read, variables
from enso_jax.stepping._cells import by_cells
from enso_jax.stepping._trigonometry import cosine, sine

_FIXED, _EARLY, _SEASON, _LATE = range(4)

# Arithmetic that costs no more than to read its result.
_CHEAP: Final = frozenset(
    {"abs", "add", "and", "convert_element_type", "copy", "eq", "ge", "gt", "integer_pow", "le"}
    | {"lt", "max", "min", "mul", "ne", "neg", "not", "or", "select_n", "sign", "square", "sub"}
)

_FASTER: Final = {"sin": sine, "cos": cosine}


class Values(NamedTuple):
    """Numbers of one level.

    The floating scalars are one vector, because a loop over many separate ones is slow, to
    compile and to run.
    """

    scalars: Array
    others: tuple[Array, ...]


class Levels(NamedTuple):
    """A step in its levels. A state is a tuple of its variables.

    Attributes:
        fixed: what depends on the parameters alone, computed.
        early: makes what depends on time too, and is costly.
        season: ``(fixed, early) -> season``, all else that depends on time.
        late: ``(state, fixed, early, season, noise) -> state``, all of one member.
    """

    fixed: Values
    early: Callable[[Array], Values]
    season: Callable[[Values, Values], Values]
    late: Callable[
        [tuple[Array, ...], Values, Values, Values, tuple[Array, ...]], tuple[Array, ...]
    ]


def in_levels(
    step: Callable[[Array, Array, Any, Array], Array],
    size: int,
    noise_size: int,
    dt: float,
    dtype: str,
) -> Levels:
    """Sorts the equations of `step`.

    Args:
        step: ``(state (v,), t (), dt (), noise (q,)) -> state (v,)``; what it closes over are
            its parameters.
        size: v.
        noise_size: q.
        dt: in months, fixed from here on.
        dtype: of all its arguments.
    """
    # A number and no traced value, because a submitted program looks whether it is its own.
    fixed_dt = np.asarray(dt, dtype)

    def numbers(state: Sequence[Array], t: Array, noise: Sequence[Array]) -> list[Array]:
        return by_cells(
            lambda state, t, noise: step(state, t, fixed_dt, noise), dtype, state, t, noise
        )

    scalar = jax.ShapeDtypeStruct((), dtype)
    closed = jax.make_jaxpr(numbers)([scalar] * size, scalar, [scalar] * noise_size)
    state, t = closed.jaxpr.invars[:size], closed.jaxpr.invars[size]
    noise = closed.jaxpr.invars[size + 1 :]

    level = _levels(closed.jaxpr, {t: _EARLY} | dict.fromkeys((*state, *noise), _LATE))
    equations = [
        [equation for equation in closed.jaxpr.eqns if _level_of(equation, level) == wanted]
        for wanted in (_FIXED, _EARLY, _SEASON, _LATE)
    ]
    handed_on = _handed_on(equations, closed.jaxpr.outvars, level)
    parameters = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    parameters |= _evaluated(closed.jaxpr, equations[_FIXED], parameters)

    def early(time: Array) -> Values:
        known = parameters | {t: time}
        known |= _evaluated(closed.jaxpr, equations[_EARLY], known, _FASTER)
        return _packed([known[var] for var in handed_on[_EARLY]], dtype)

    def season(fixed: Values, before: Values) -> Values:
        known = _unpacked(fixed, handed_on[_FIXED], dtype)
        known |= _unpacked(before, handed_on[_EARLY], dtype)
        known |= _evaluated(closed.jaxpr, equations[_SEASON], known)
        return _packed([known[var] for var in handed_on[_SEASON]], dtype)

    def late(old, fixed, before, now, normals):
        known = dict(zip((*state, *noise), (*old, *normals), strict=True))
        for values, names in zip((fixed, before, now), handed_on, strict=True):
            known |= _unpacked(values, names, dtype)
        known |= _evaluated(closed.jaxpr, equations[_LATE], known)
        return tuple(read(atom, known) for atom in closed.jaxpr.outvars)

    fixed = _packed([parameters[var] for var in handed_on[_FIXED]], dtype)
    return Levels(fixed, early, season, late)


def _handed_on(
    equations: Sequence[Sequence[core.JaxprEqn]], outputs: Sequence[Any], level: Mapping[Any, int]
) -> list[list[Any]]:
    """For each level but the last, its variables that those after the early one read."""
    read_later = [*_read_by([*equations[_SEASON], *equations[_LATE]]), *variables(outputs)]
    read_last = [*_read_by(equations[_LATE]), *variables(outputs)]
    return [
        list(dict.fromkeys(var for var in wanted if level[var] == lower))
        for lower, wanted in ((_FIXED, read_later), (_EARLY, read_later), (_SEASON, read_last))
    ]


def _levels(jaxpr: core.Jaxpr, given: Mapping[Any, int]) -> dict[Any, int]:
    """The level of every variable: the highest of those from which it is computed.

    But what is cheap, and early for nothing that is not, is of the season.
    """
    level = dict.fromkeys(jaxpr.constvars, _FIXED) | dict(given)
    for equation in jaxpr.eqns:
        highest = max((level[var] for var in variables(equation.invars)), default=_FIXED)
        level.update(dict.fromkeys(equation.outvars, highest))
    wanted: set[Any] = set()
    for equation in reversed(jaxpr.eqns):
        if _level_of(equation, level) == _EARLY:
            if equation.primitive.name not in _CHEAP or not wanted.isdisjoint(equation.outvars):
                wanted.update(variables(equation.invars))
            else:
                level.update(dict.fromkeys(equation.outvars, _SEASON))
    return level


def _level_of(equation: core.JaxprEqn, level: Mapping[Any, int]) -> int:
    return level[equation.outvars[0]]


def _read_by(equations: Iterable[core.JaxprEqn]) -> list[Any]:
    return [var for equation in equations for var in variables(equation.invars)]


def _evaluated(
    jaxpr: core.Jaxpr,
    equations: Iterable[core.JaxprEqn],
    known: Mapping[Any, Array],
    instead: Mapping[str, Callable[[Array], Array]] = MappingProxyType({}),
) -> dict[Any, Array]:
    """The results of `equations`, by their variables; float64 operations may be replaced."""
    values = dict(known)
    for equation in equations:
        operands = [read(atom, values) for atom in equation.invars]
        if equation.primitive.name in instead and operands[0].dtype == jnp.float64:
            results = [instead[equation.primitive.name](*operands)]
        else:
            results = computed(equation, jaxpr, operands)
        values.update(zip(equation.outvars, results, strict=True))
    return values


def _packed(values: Sequence[Array], dtype: str) -> Values:
    scalars = [value for value in values if _is_scalar(value, dtype)]
    others = [value for value in values if not _is_scalar(value, dtype)]
    return Values(jnp.stack(scalars) if scalars else jnp.zeros(0, dtype), tuple(others))


def _unpacked(values: Values, names: Sequence[Any], dtype: str) -> dict[Any, Array]:
    scalars = (values.scalars[number] for number in range(len(values.scalars)))
    others = iter(values.others)
    return {
        name: next(scalars if _is_scalar(name.aval, dtype) else others)  # pyright: ignore
        for name in names
    }


def _is_scalar(value: Any, dtype: str) -> bool:
    return value.shape == () and value.dtype == jnp.dtype(dtype)
