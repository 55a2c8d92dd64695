"""How are loops and compiled helpers run while a step's keys are traced?

A `NoiseKey` is no JAX value, so it cannot go into a loop or a compiled function of
JAX's. Where one would, the loop is run in Python, turn by turn, and the function is
called as it is; what comes out is the same computation. Everything else goes to JAX.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any, Final, NoReturn

import jax
import jax.numpy as jnp

from enso_jax.submissions.child._keys import NoiseKey, NoiseKeys

#: Turns that a loop may have when it is run in Python.
_MOST_TURNS: Final = 200


def teach_jax_loops() -> None:
    """Makes `jax.jit`, `jax.vmap`, `lax.scan` and `lax.fori_loop` take keys that are traced.

    Called before a submission is imported, since it may import them by name.
    """
    jax.jit = _jit(jax.jit)
    jax.vmap = _vmap(jax.vmap)
    jax.lax.scan = _scan(jax.lax.scan)
    jax.lax.fori_loop = _fori_loop(jax.lax.fori_loop)
    # It has no result, and would be left out of a program without a word.
    jax.debug.callback = _refused_callback


def _refused_callback(*arguments: Any, **options: Any) -> NoReturn:
    raise RuntimeError("jax.debug.callback leads from JAX back to Python: leave it out")


def _holds_keys(*values: Any) -> bool:
    return any(isinstance(leaf, NoiseKey | NoiseKeys) for leaf in jax.tree.leaves(values))


def _jit(real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def jit(function: Any = None, **options: Any) -> Any:
        if function is None:
            return lambda function: jit(function, **options)
        compiled = real(function, **options)

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            chosen = function if _holds_keys(arguments, named) else compiled
            return chosen(*arguments, **named)

        return call

    return jit


def _scan(real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def scan(
        f: Any, init: Any, xs: Any = None, length: Any = None, reverse: bool = False, **options: Any
    ) -> Any:
        if not _holds_keys(init, xs):
            return real(f, init, xs, length, reverse, **options)
        turns = range(operator.index(length) if length is not None else _lengths([xs], [0])[0])
        _require_few(turns)
        carry, made = init, []
        for turn in reversed(turns) if reverse else turns:
            carry, y = f(carry, _at(xs, turn))
            made.append(y)
        made = made[::-1] if reverse else made
        return carry, jax.tree.map(lambda *ys: jnp.stack(ys), *made)

    return scan


def _fori_loop(real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def fori_loop(lower: Any, upper: Any, body_fun: Any, init_val: Any, **options: Any) -> Any:
        try:
            return real(lower, upper, body_fun, init_val, **options)
        except Exception:
            # Perhaps a key is folded with the number of the turn: known, if run in Python.
            turns = range(operator.index(lower), operator.index(upper))
            _require_few(turns)
            value = init_val
            for turn in turns:
                value = body_fun(turn, value)
            return value

    return fori_loop


def _vmap(real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def vmap(fun: Any, in_axes: Any = 0, out_axes: Any = 0, **options: Any) -> Any:
        batched = real(fun, in_axes, out_axes, **options)

        @functools.wraps(fun)
        def call(*arguments: Any, **named: Any) -> Any:
            if not _holds_keys(arguments, named):
                return batched(*arguments, **named)
            axes = in_axes if isinstance(in_axes, tuple | list) else [in_axes] * len(arguments)
            if named or out_axes != 0 or not all(axis in (0, None) for axis in axes):
                raise RuntimeError("jax.vmap over keys along another axis than the first")
            turns = range(max(_lengths(arguments, axes)))
            _require_few(turns)
            made = [
                fun(
                    *(
                        argument if axis is None else _at(argument, turn)
                        for argument, axis in zip(arguments, axes, strict=True)
                    )
                )
                for turn in turns
            ]
            return jax.tree.map(lambda *ys: jnp.stack(ys), *made)

        return call

    return vmap


def _lengths(arguments: Any, axes: Any) -> list[int]:
    batched = [argument for argument, axis in zip(arguments, axes, strict=True) if axis == 0]
    return [len(leaf) for leaf in jax.tree.leaves(batched)]


def _at(tree: Any, turn: int) -> Any:
    """A tree of rows, at one of them."""
    leaves, structure = jax.tree.flatten(tree)
    return jax.tree.unflatten(structure, [leaf[turn] for leaf in leaves])


def _require_few(turns: range) -> None:
    if len(turns) > _MOST_TURNS:
        raise RuntimeError(f"a loop of {len(turns)} turns is too long to be unrolled")
