"""Is a traced step, sent as data, the same function; and does nothing else get through?"""

import json
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback

from enso_jax.experiments import RecordedNoise, free_run
from enso_jax.experiments._free_run import MONTHS_PER_BLOCK
from enso_jax.grading import step_digest
from enso_jax.models import built_in
from enso_jax.submissions._operations import NESTINGS, OPERATIONS
from enso_jax.submissions._program import BadProgram, Block, Equation, Program
from enso_jax.submissions._program_bytes import read_program, write_program
from enso_jax.submissions._program_checks import MAX_CONSTANT_BYTES, MAX_EQUATIONS
from enso_jax.submissions._program_of import NotAProgram, program_of
from enso_jax.submissions._program_step import ProgramStep

X = np.array([0.3, -0.8, 0.45, 0.1, 0.7])
Y = np.array([0.6, 0.2, -0.4, 0.9, 0.5])
POSITIVE = np.array([0.3, 1.8, 0.45, 2.1, 0.7])
ABOVE_ONE = 1.0 + POSITIVE
I = np.array([3, -7, 12, 0, 5])  # noqa: E741
J = np.array([1, 2, 3, 4, 5])
M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])


def read_back(program: Program) -> Program:
    return read_program(write_program(program))


def operations_in(equations: tuple[Equation, ...]) -> set[str]:
    """The names of the operations in a program and in those that it holds."""
    names = {equation.operation for equation in equations}
    for equation in equations:
        for block in equation.blocks:
            names |= operations_in(block.equations)
    return names


# --- Every operation --------------------------------------------------------------------


class Case(NamedTuple):
    """A function of which `operation` is a part, and arguments for it."""

    operation: str
    function: Callable[..., Any]
    arguments: tuple[np.ndarray, ...]


def at(index, array):
    """`array[index]` as a gather whose index is a value."""
    return array.at[index].get(mode="fill", fill_value=0.25)


ANYWHERE = [
    *(lax.abs, lax.acos, lax.asin, lax.asinh, lax.atan, lax.atanh, lax.bessel_i0e, lax.bessel_i1e),
    *(lax.cbrt, lax.ceil, lax.cos, lax.cosh, lax.erf, lax.erf_inv, lax.erfc, lax.exp, lax.exp2),
    *(lax.expm1, lax.floor, lax.is_finite, lax.log1p, lax.logistic, lax.neg, lax.sign, lax.sin),
    *(lax.sinh, lax.square, lax.tan, lax.tanh),
]
WHERE_POSITIVE = [lax.digamma, lax.lgamma, lax.log, lax.rsqrt, lax.sqrt]
OF_TWO = [
    *(lax.add, lax.atan2, lax.div, lax.eq, lax.ge, lax.gt, lax.le, lax.lt, lax.max, lax.min),
    *(lax.mul, lax.ne, lax.nextafter, lax.rem, lax.sub),
]

CASES = [
    *(Case(function.__name__, function, (X,)) for function in ANYWHERE),
    *(Case(function.__name__, function, (POSITIVE,)) for function in WHERE_POSITIVE),
    Case("acosh", lax.acosh, (ABOVE_ONE,)),
    *(Case(name, getattr(lax, name), (J,)) for name in ("clz", "population_count")),
    *(Case(function.__name__, function, (X, Y)) for function in OF_TWO),
    Case("pow", lax.pow, (POSITIVE, ABOVE_ONE)),
    Case("igamma", lax.igamma, (POSITIVE, ABOVE_ONE)),
    Case("igammac", lax.igammac, (POSITIVE, ABOVE_ONE)),
    Case("zeta", lax.zeta, (ABOVE_ONE, POSITIVE)),
    Case("polygamma", lax.polygamma, (np.array([1.0, 2.0, 1.0, 3.0, 2.0]), POSITIVE)),
    Case("regularized_incomplete_beta", special.betainc, (POSITIVE, ABOVE_ONE, np.abs(X))),
    Case("add", lambda x, i: x + 2 * i.astype(float), (X, I)),
    Case("rem", lambda i, j: i % j, (I, J)),
    Case("div", lambda i, j: i // j, (I, J)),
    Case("not", lambda i: ~i, (I,)),
    Case("and", lambda i, j: i & j, (I, J)),
    Case("or", lambda i, j: i | j, (I, J)),
    Case("xor", lambda i, j: i ^ j, (I, J)),
    Case("not", lambda x, y: ~((x > 0.1) ^ (y > 0.1)), (X, Y)),
    Case("shift_left", lambda i, j: i << j, (I, J)),
    Case("shift_right_arithmetic", lambda i, j: i >> j, (I, J)),
    Case("shift_right_logical", lax.shift_right_logical, (I, J)),
    Case("round", jnp.round, (3 * X,)),
    Case("integer_pow", lambda x: x**3 + x**-2, (X,)),
    Case("reduce_precision", lambda x: lax.reduce_precision(x, 8, 10), (X,)),
    Case("convert_element_type", lambda x: x.astype(jnp.float32), (X,)),
    Case("bitcast_convert_type", lambda x: lax.bitcast_convert_type(x, jnp.int64), (X,)),
    Case("stop_gradient", lambda x: x * lax.stop_gradient(x), (X,)),
    Case("copy", lambda x: jnp.array(x, copy=True) + x, (X,)),
    Case("clamp", lambda x: lax.clamp(-0.5, x, 0.4), (X,)),
    Case("select_n", lambda x, y: jnp.where(x > 0.2, x, y), (X, Y)),
    Case("le_to", lambda x: jnp.searchsorted(jnp.linspace(-1.0, 1.0, 9), x), (X,)),
    Case("lt_to", lambda x: jnp.searchsorted(jnp.linspace(-1.0, 1.0, 9), x, "right"), (X,)),
    Case("gather", lambda x: jnp.interp(x, jnp.linspace(-1.0, 1.0, 9), jnp.arange(9.0)), (X,)),
    Case("iota", lambda x: x * jnp.arange(5.0), (X,)),
    Case("reshape", lambda m: m.reshape(9), (M,)),
    Case("broadcast_in_dim", lambda x: jnp.broadcast_to(x, (2, 5)), (X,)),
    Case("squeeze", lambda x: jnp.expand_dims(x, (0, 2)).squeeze(0), (X,)),
    Case("transpose", lambda m: m.T, (M,)),
    Case("rev", lambda x: x[::-1], (X,)),
    Case("pad", lambda x: lax.pad(x, jnp.float64(0.5), [(1, 2, 1)]), (X,)),
    Case("tile", lambda m: jnp.tile(m, (2, 3)), (M,)),
    Case("concatenate", lambda x, y: jnp.concatenate([x, y]), (X, Y)),
    Case("stack", lambda x, y: jnp.stack([x, y], axis=1), (X, Y)),
    Case("unstack", lambda m: jnp.stack([*jnp.unstack(m, axis=1)][::-1]), (M,)),
    Case("split", lambda x: jnp.split(x, [2])[1], (X,)),
    Case("sort", jnp.sort, (X,)),
    Case("sort", jnp.argsort, (X,)),
    Case("sort", jnp.median, (X,)),
    Case("slice", lambda x: lax.slice(x, (1,), (5,), (2,)), (X,)),
    Case("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i[0],), (2,)), (X, I)),
    Case("dynamic_update_slice", lambda x, i: lax.dynamic_update_slice(x, x[:2], (i[1],)), (X, I)),
    Case("gather", lambda x, i: x[i % 5], (X, I)),
    Case("gather", lambda x, i: at(i, x), (X, I)),
    Case("gather", lambda x, i: x.at[i].get(mode="fill"), (X, I % 5)),
    Case("scatter", lambda x, i: x.at[i[0]].set(2.0), (X, I)),
    Case("scatter-add", lambda x, i: x.at[i].add(x), (X, I)),
    Case("scatter-sub", lambda x, i: x.at[i].subtract(x), (X, I)),
    Case("scatter-mul", lambda x, i: x.at[i[0]].multiply(2.0, unique_indices=True), (X, I)),
    Case("scatter-min", lambda x, i: x.at[i].min(0.2), (X, I)),
    Case("scatter-max", lambda x, i: x.at[i].max(0.2), (X, I)),
    *(
        Case(f"reduce_{name}", partial(getattr(jnp, name), axis=0), (M,))
        for name in ("sum", "max", "min", "prod")
    ),
    Case("reduce_and", lambda x: jnp.all(x > -1.0), (X,)),
    Case("reduce_or", lambda x: jnp.any(x > 0.5), (X,)),
    Case("reduce_xor", lambda i: lax.reduce_xor(i, (0,)), (I,)),
    Case("argmax", jnp.argmax, (X,)),
    Case("argmin", partial(jnp.argmin, axis=1), (M,)),
    Case("cumsum", lax.cumsum, (X,)),
    Case("cumprod", lax.cumprod, (X,)),
    Case("cummax", lax.cummax, (X,)),
    Case("cummin", lax.cummin, (X,)),
    Case("cumlogsumexp", lambda x: lax.cumlogsumexp(x, reverse=True), (X,)),
    Case("dot_general", lambda m: m @ m + jnp.dot(m, m[0])[:, None], (M,)),
    Case("dot_general", lambda x: jnp.einsum("i,j->ij", x, x, precision="highest"), (X,)),
    Case("cholesky", jnp.linalg.cholesky, (M,)),
    Case("triangular_solve", lambda m: jnp.linalg.inv(m), (M,)),
    Case("lu", lambda m: jnp.linalg.solve(m, m[0]), (M,)),
    Case("custom_linear_solve", lambda m: jnp.linalg.solve(m, jnp.outer(Y[:3], m[0])), (M,)),
    Case("custom_linear_solve", lambda m: jax.scipy.linalg.solve(m, Y[:3], assume_a="pos"), (M,)),
    Case("lu_pivots_to_permutation", lambda m: lax.linalg.lu_pivots_to_permutation(
        lax.linalg.lu(m)[1], 3), (M,)),
    Case("qr", lambda m: jnp.linalg.qr(m)[1], (M,)),
    Case("eigh", lambda m: jnp.linalg.eigh(m)[0], (M,)),
    Case("add_any", jax.grad(lambda x: jnp.sum(x * jnp.sin(x) + x)), (X,)),
    # Calls.
    Case("max", jax.nn.relu, (X,)),
    Case("logistic", lambda x: jax.nn.sigmoid(x) + jax.nn.softplus(x) + jax.nn.gelu(x), (X,)),
    Case("sin", jax.checkpoint(lambda x: jnp.sin(x) * 2.0), (X,)),
    Case("mul", lambda x: jax.jit(lambda y: y * x)(x) * jax.jit(jnp.sin)(x), (X,)),
    # Loops and branches.
    Case("scan", lambda x: lax.scan(lambda c, y: (0.5 * c + y, jnp.sin(c)), 1.0, x), (X,)),
    Case("scan", lambda x: lax.fori_loop(0, 7, lambda k, c: 0.9 * c + k, x), (X,)),
    Case("scan", lambda x: lax.map(lambda y: jnp.where(y > 0.0, y, x[0] * y), x), (X,)),
    Case("scan", lambda x: lax.scan(lambda c, y: (c + y * X, c), x, x, reverse=True)[1], (X,)),
    Case("cond", lambda x: lax.cond(x[0] > 0.0, lambda y: 3.0 * y, lambda y: y - 1.5, x), (X,)),
    Case("cond", lambda x: lax.cond(x[1] > 0.0, lambda y: 3.0 * y, lambda y: y * Y, x), (X,)),
    Case("cond", lambda x, i: lax.switch(i[0], [jnp.sin, lambda y: 2.0 * y, jnp.cos], x), (X, I)),
    Case(
        "scan",
        lambda x: lax.scan(
            lambda c, y: (
                lax.fori_loop(0, 3, lambda k, d: 0.5 * d + k, lax.cond(y > 0, jnp.sin, jnp.cos, c)),
                c * 1.5,
            ),
            jnp.float64(0.3),
            x,
        ),
        (X,),
    ),
]  # fmt: skip

# In other versions of JAX these are made of other operations.
SPELT_OUT = {"add_any", "copy", "tile", "stack", "unstack", "stop_gradient"}

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.operation)


def flat(function: Callable) -> Callable:
    return lambda *arguments: tuple(jax.tree.leaves(function(*arguments)))


def assert_same(found: Any, wanted: Any) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-15, atol=1e-15)


@every_case
def test_a_program_is_the_function(case):
    program = program_of(case.function, *case.arguments)
    back = read_back(program)

    assert case.operation in operations_in(program.equations) | SPELT_OUT
    assert back.structure == program.structure
    assert write_program(back) == write_program(program)
    wanted = jax.jit(flat(case.function))(*case.arguments)
    assert_same(jax.jit(program)(*case.arguments), wanted)
    assert_same(jax.jit(back)(*case.arguments), wanted)


@every_case
def test_a_program_is_batched_as_the_function_is(case):
    program = read_back(program_of(case.function, *case.arguments))
    batch = [np.stack([argument, argument[::-1]]) for argument in case.arguments]

    found = jax.jit(jax.vmap(program))(*batch)

    assert_same(found, jax.jit(jax.vmap(flat(case.function)))(*batch))


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.arguments[0].dtype == np.float64],
    ids=lambda case: case.operation,
)
def test_a_program_has_the_functions_gradient(case):
    program = read_back(program_of(case.function, *case.arguments))
    floating = tuple(
        number for number, array in enumerate(case.arguments) if array.dtype == np.float64
    )

    def total(function: Callable) -> Callable:
        def scalar(*arguments):
            leaves = [leaf for leaf in function(*arguments) if leaf.dtype == np.float64]
            return sum((jnp.sum(jnp.sin(leaf)) for leaf in leaves), start=jnp.float64(0.0))

        return jax.jit(jax.grad(scalar, floating))

    try:
        wanted = total(flat(case.function))(*case.arguments)
    except (NotImplementedError, ValueError) as error:  # the function has none
        with pytest.raises(type(error)):
            total(program)(*case.arguments)
        return

    found = total(program)(*case.arguments)

    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


def test_every_allowed_operation_is_tried():
    tried = {case.operation for case in CASES} - {"copy"}
    # eq_to is written by nothing that is public.
    assert tried == (set(OPERATIONS) | set(NESTINGS)) - {"eq_to"}


def test_a_program_of_float32_computes_in_float32():
    x = X.astype(np.float32)
    program = read_back(program_of(lambda x: jnp.tanh(0.1 * x), x))

    assert program.structure.output_types == (((5,), "float32"),)
    assert_same(jax.jit(program)(x), jax.jit(flat(lambda x: jnp.tanh(0.1 * x)))(x))


def test_dead_code_is_no_part_of_a_program():
    def function(x):
        jax.pure_callback(np.sin, jax.ShapeDtypeStruct((5,), float), x)
        jnp.linalg.svd(jnp.outer(x, x))
        jax.debug.print("{x}", x=x)
        jax.debug.callback(lambda x: None, x)
        return 2.0 * x

    (equation,) = program_of(function, X).equations

    assert equation.operation == "mul"


def test_numbers_in_the_code_are_constants_and_not_structure():
    def of(a, b):
        def function(x):
            x = lax.fori_loop(0, 3, lambda k, y: a * y + b, x)
            return lax.cond(x[0] > a, lambda y: y * b, lambda y: y + a, x)

        return program_of(function, X)

    one, other, third = of(0.5, 0.25), of(-0.1, 3.5), of(0.5, 0.5)

    assert one.structure == other.structure == third.structure
    assert hash(one.structure) == hash(other.structure)
    assert write_program(one) != write_program(other)


def test_one_array_used_twice_is_one_constant():
    program = program_of(lambda x: x * Y + jnp.sin(x * Y), X)

    assert len(program.constants) == 1


# --- As a step --------------------------------------------------------------------------

DT = 1 / 30


def step_of(model: Any, dt: float = DT) -> ProgramStep:
    def function(state, t, noise):
        return model(state, t, jnp.asarray(dt), noise)

    examples = (jnp.zeros(5), jnp.zeros(()), jnp.zeros(model.noise_size))
    return ProgramStep(read_back(program_of(function, *examples)), dt)


def some_noise() -> RecordedNoise:
    rng = np.random.default_rng(3)
    return RecordedNoise(jnp.asarray(rng.standard_normal((2, MONTHS_PER_BLOCK, 30, 5))))


def test_a_model_runs_the_same_as_a_program(small_protocol):
    model = built_in("fable-5.1").build()
    protocol = small_protocol()

    wanted = eqx.filter_jit(free_run)(model, some_noise(), protocol)
    found = eqx.filter_jit(free_run)(step_of(model), some_noise(), protocol)

    found, wanted = np.asarray(found.monthly), np.asarray(wanted.monthly)
    assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_programs_of_one_structure_are_stacked(small_protocol, stack, count_traces):
    models = [
        built_in("fable-5.1").build(),
        eqx.tree_at(lambda model: model.bound, built_in("fable-5.1").build(), jnp.asarray(0.5)),
    ]
    steps = [step_of(model) for model in models]
    protocol = small_protocol(free_run_years=6, free_run_spin_up_years=1)
    stacked = stack(*steps)
    run, traces = count_traces(lambda step: free_run(step, some_noise(), protocol).monthly)
    together = eqx.filter_jit(eqx.filter_vmap(lambda step: run(step)))(stacked)

    for step, monthly in zip(steps, together, strict=True):
        np.testing.assert_allclose(monthly, run(step), rtol=1e-9, atol=1e-9)
    assert len(traces) == 1  # batched or alone, and whatever the constants
    assert np.abs(together[0] - together[1]).max() > 1e-3


def test_a_step_keeps_to_the_protocols_precision(small_protocol):
    protocol = small_protocol(state_dtype="float32", noise_dtype="float32")

    found = eqx.filter_jit(free_run)(step_of(built_in("fable-5.1").build()), some_noise(), protocol)

    assert found.monthly.dtype == np.float32
    assert np.isfinite(found.monthly).all()


def test_a_step_has_whole_numbers_and_arrays_as_constants_too():
    table = np.linspace(-1.0, 1.0, 12)
    lags = np.array([1, 2, 3, 4, 0])

    def function(state, t, noise):
        month = jnp.floor(t).astype(int) % 12
        return 0.5 * state[jnp.asarray(lags)] + jnp.asarray(table)[month] + 0.1 * noise

    program = program_of(function, X, np.float64(3.0), Y)
    step = ProgramStep(program, DT)

    found = step(X, 14.5, DT, Y)

    np.testing.assert_allclose(found, function(jnp.asarray(X), jnp.asarray(14.5), Y), rtol=1e-15)
    assert len(step.arrays) == 2


def test_a_step_is_for_one_dt():
    step = step_of(built_in("fable-5.1").build())
    with pytest.raises(ValueError, match=r"0\.0333333 months, not 0\.1"):
        step(jnp.zeros(5), jnp.zeros(()), 0.1, jnp.zeros(5))


@pytest.mark.parametrize(
    "function",
    [
        lambda state, t: state,
        lambda state, t, noise: state[:4],
        lambda state, t, noise: (state, state),
        lambda state, t, noise: state > 0.0,
    ],
)
def test_a_step_has_the_signature_of_a_step(function):
    arguments = (X, np.float64(0.0), Y)[: function.__code__.co_argcount]
    with pytest.raises(BadProgram, match="returns a state of 5"):
        ProgramStep(program_of(function, *arguments), DT)


# --- What is no program -----------------------------------------------------------------


def loop_until(x):
    return lax.while_loop(lambda y: jnp.sum(y) < 3.0, lambda y: y * 1.5, x)


KEY = jax.random.key(0)

NOT_PROGRAMS = {
    "pure_callback": lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((5,), float), x),
    "io_callback": lambda x: (io_callback(lambda y: None, None, x), x)[1],
    "ordered io_callback": lambda x: (io_callback(lambda y: None, None, x, ordered=True), x)[1],
    "io_callback in a loop": lambda x: lax.map(
        lambda y: (io_callback(lambda z: None, None, y), y)[1], x
    ),
    "while": loop_until,
    "while in a branch": lambda x: lax.cond(x[0] > 0, loop_until, jnp.sin, x),
    "random": lambda x: x + jax.random.normal(jax.random.key(0), (5,)),
    "a key that is a constant": lambda x: x + jax.random.normal(KEY, (5,)),
    "broadcast": lambda x: jnp.sum(jnp.zeros(2_000_000) + x[0]),
    "scan": lambda x: lax.fori_loop(0, 10**9, lambda k, y: y * 0.5, x),
    "svd": lambda x: jnp.linalg.svd(jnp.outer(x, x))[1],
    "complex": lambda x: jnp.abs(jnp.fft.fft(x)),
    "ffi": lambda x: jax.ffi.ffi_call("mine", jax.ShapeDtypeStruct((5,), float))(x),
    "work": lambda x: lax.fori_loop(0, 9_999, lambda k, y: y * 0.5, jnp.zeros(9_999) + x[0])[0],
    "constants": lambda x: jnp.take(jnp.zeros(MAX_CONSTANT_BYTES), x[0].astype(int)),
}


@pytest.mark.parametrize("function", NOT_PROGRAMS.values(), ids=NOT_PROGRAMS)
def test_what_is_no_program_is_refused(function):
    with pytest.raises(NotAProgram, match="A step cannot use"):
        program_of(function, X)


def test_a_refusal_says_what_and_where():
    with pytest.raises(NotAProgram) as caught:
        program_of(loop_until, X)

    assert caught.value.operation.startswith("while")
    assert caught.value.file == __file__
    assert caught.value.line == loop_until.__code__.co_firstlineno + 1
    assert str(caught.value).endswith(f"({__file__}, line {caught.value.line}).")


def test_a_refusal_inside_a_loop_says_where():
    def body(k, y):
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((5,), float), y)

    with pytest.raises(NotAProgram) as caught:
        program_of(lambda x: lax.fori_loop(0, 3, body, x), X)

    assert caught.value.operation.startswith("pure_callback")
    assert caught.value.line == body.__code__.co_firstlineno + 1


# --- What the grader refuses --------------------------------------------------------------


def example() -> Program:
    """A program with constants, literals, loops and branches."""

    def function(x, i):
        x = lax.fori_loop(0, 7, lambda k, y: 0.9 * y + k, x)
        x = lax.cond(x[0] > 0.0, lambda y: 3.0 * y, lambda y: y * Y, x)
        return jnp.sort(x)[i] + x.at[i].add(1.0)

    return program_of(function, X, I % 5)


EXAMPLE = write_program(example())
START = len(b"enso-jax program 1\n")


def header_of(data: bytes) -> tuple[Any, bytes]:
    (size,) = struct.unpack_from("<I", data, START)
    return json.loads(data[START + 4 : START + 4 + size]), data[START + 4 + size :]


def with_header(header: Any, numbers: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    return EXAMPLE[:START] + struct.pack("<I", len(text)) + text + numbers


def header(
    equations: list[Any],
    inputs: Any = ([[5], "float64"],),
    constants: Any = (),
    outputs: Any = (0,),
) -> bytes:
    keys = ("inputs", "constants", "equations", "outputs")
    return with_header(dict(zip(keys, (inputs, constants, equations, outputs), strict=True)), b"")


FIVE = [[5], "float64"]
ONE = [[], "float64"]
HUGE = [[10**12], "float64"]


def neg(at: Any = 0) -> list[Any]:
    return ["neg", [at], {}, [FIVE], []]


def scan(length: int, body: list[Any], results: Any = (FIVE,)) -> list[Any]:
    parameters = {"carries": 1, "length": length, "reverse": False, "scanned": 0}
    return ["scan", [0], parameters, list(results), [[[FIVE], body, [len(body)]]]]


def nested(depth: int) -> list[Any]:
    return scan(1, [nested(depth - 1)] if depth else [neg()])


BAD = {
    "an unknown operation": header([["custom_call", [0], {}, [FIVE], []]]),
    "a dunder": header([["__class__", [0], {}, [FIVE], []]]),
    "a value not yet defined": header([neg(1)]),
    "a negative value": header([neg(-1)]),
    "an output not defined": header([], outputs=[1]),
    "too many operands": header([["neg", [0, 0], {}, [FIVE], []]]),
    "no operands": header([["concatenate", [], {"dimension": 0}, [FIVE], []]]),
    "an unknown parameter": header([["neg", [0], {"axis": 1}, [FIVE], []]]),
    "a missing parameter": header([["reduce_sum", [0], {}, [ONE], []]]),
    "a parameter of another kind": header([["reduce_sum", [0], {"axes": 0}, [ONE], []]]),
    "a truth value for a number": header([["integer_pow", [0], {"y": True}, [FIVE], []]]),
    "a power out of bounds": header([["integer_pow", [0], {"y": 10**9}, [FIVE], []]]),
    "an axis that is not there": header([["reduce_sum", [0], {"axes": [3]}, [ONE], []]]),
    "a wrong shape": header([["neg", [0], {}, [[[4], "float64"]], []]]),
    "a wrong type": header([["neg", [0], {}, [[[5], "float32"]], []]]),
    "two results for one": header([["neg", [0], {}, [FIVE, FIVE], []]]),
    "an object type": header([], inputs=[[[5], "object"]]),
    "a complex type": header([], inputs=[[[5], "complex128"]]),
    "a negative shape": header([], inputs=[[[-5], "float64"]]),
    "many axes": header([], inputs=[[[1] * 17, "float64"]]),
    "a huge input": header([], inputs=[HUGE]),
    "a huge constant": header([], constants=[HUGE]),
    "a huge result": header(
        [["broadcast_in_dim", [0], {"broadcast_dimensions": [1], "shape": [10**12, 5]}, [HUGE], []]]
    ),
    "a huge result that is not declared": header(
        [["broadcast_in_dim", [0], {"broadcast_dimensions": [1], "shape": [10**9, 5]}, [FIVE], []]]
    ),
    "a huge iota": header(
        [["iota", [], {"dimension": 0, "dtype": "int64", "shape": [10**9]}, [FIVE], []]]
    ),
    "more parts than are declared": header(
        [["unstack", [0], {"axis": 0}, [[[], "float64"]], []]], inputs=[[[2**20], "float64"]]
    ),
    "a long loop": header([scan(10**9, [neg()])]),
    "a long loop in a loop": header([scan(10_000, [scan(10_000, [neg()])])]),
    "a long loop of nothing in a loop": header([scan(10_000, [scan(10_000, [])])]),
    "a loop with another carry": header([scan(3, [["exp", [0], {}, [[[], "float64"]], []]])]),
    "a loop without a body": header(
        [["scan", [0], {"carries": 1, "length": 1, "reverse": False, "scanned": 0}, [FIVE], []]]
    ),
    "loops nested deep": header([nested(30)]),
    "loops nested deeper": header([nested(120)]),
    "a solution that holds loops": header(
        [["custom_linear_solve", [0], {"unknowns": 1}, [FIVE],
          [[[FIVE], [scan(1, [neg()])], [1]], [[FIVE], [], [0]]]]]
    ),
    "a solution of nothing": header([["custom_linear_solve", [0], {"unknowns": 1}, [FIVE], []]]),
    "a branch of no program": header([["cond", [[0, "int32"], 0], {}, [FIVE], []]]),
    "a float literal": header([["add", [0, [0.5, "float64"]], {}, [FIVE], []]]),
    "a literal out of range": header([["add", [0, [300, "uint8"]], {}, [FIVE], []]]),
    "a truth value as a literal": header([["add", [0, [True, "int64"]], {}, [FIVE], []]]),
    "too many equations": header([neg()] * (MAX_EQUATIONS + 1)),
    "too much work": header(
        [["dot_general", [0, 0], {
            "dimension_numbers": [[[1], [1]], [[], []]],
            "precision": None,
            "preferred_element_type": None,
        }, [[[1000, 1000], "float64"]], []]],
        inputs=[[[1000, 1000], "float64"]],
    ),
    "nothing": b"",
    "no list": header({}),  # pyright: ignore[reportArgumentType]
    "a header too short": EXAMPLE[:START] + struct.pack("<I", 2**31) + b"{}",
    "deep JSON": EXAMPLE[:START] + struct.pack("<I", 200_000) + b"[" * 200_000,
    "long numbers": EXAMPLE[:START] + struct.pack("<I", 10_000) + b"1" * 10_000,
    "not a number": header([["integer_pow", [0], {"y": float("nan")}, [FIVE], []]]),
    "more at the end": EXAMPLE + b"\x00",
    "less at the end": EXAMPLE[:-1],
    "another version": EXAMPLE.replace(b"program 1", b"program 2"),
    "spaces": with_header(header_of(EXAMPLE)[0], header_of(EXAMPLE)[1]).replace(b"]],", b"]] ,"),
    "truth values of neither": header([], constants=[[[1], "bool"]]) + b"\x02",
    "pickle": b"\x80\x04N.",
}  # fmt: skip


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_what_is_not_as_it_should_be_is_refused(data):
    with pytest.raises(BadProgram) as caught:
        read_program(data)

    assert "\n" not in str(caught.value)


def test_what_is_as_it_should_be_is_read():
    """The cases above are refused for what is wrong in them, and not for their writing."""
    program = read_program(header([neg(), scan(3, [neg()])], outputs=[2]))

    np.testing.assert_array_equal(program(X)[0], -X)
    assert with_header(*header_of(EXAMPLE)) == EXAMPLE


def test_a_program_is_refused_that_has_another_signature():
    program = example()
    five = ((5,), "float64")
    program.require_signature([five, ((5,), "int64")], [five])

    with pytest.raises(BadProgram, match="inputs are"):
        program.require_signature([five], [five])
    with pytest.raises(BadProgram, match="outputs are"):
        program.require_signature([five, ((5,), "int64")], [((4,), "float64")])


def test_a_program_is_refused_inputs_of_other_types():
    with pytest.raises(BadProgram, match=r"inputs are float64\[4\]"):
        program_of(jnp.sin, X)(X[:4])


def test_64_bit_programs_need_64_bits():
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(BadProgram, match="jax_enable_x64"):
            read_program(EXAMPLE)
    finally:
        jax.config.update("jax_enable_x64", True)


# --- Fuzz -------------------------------------------------------------------------------


def refused_or_run(data: bytes) -> None:
    """What is not refused is a program, with all that goes with it."""
    try:
        program = read_program(data)
    except BadProgram:
        return
    assert write_program(program) == data
    arguments = [jax.ShapeDtypeStruct(*type_) for type_ in program.inputs]
    outputs = jax.eval_shape(program, *arguments)
    types = tuple((output.shape, output.dtype.name) for output in outputs)
    assert types == program.structure.output_types


@hypothesis.settings(max_examples=300)
@hypothesis.given(st.integers(0, len(EXAMPLE) - 1))
def test_truncated_programs_are_refused(length):
    with pytest.raises(BadProgram):
        read_program(EXAMPLE[:length])


@hypothesis.settings(max_examples=200)
@hypothesis.given(st.binary(max_size=300), st.booleans())
def test_random_bytes_are_refused(data, magic):
    with pytest.raises(BadProgram):
        read_program(EXAMPLE[:START] * magic + data)


@hypothesis.settings(max_examples=500)
@hypothesis.given(
    st.lists(
        st.tuples(st.integers(0, len(EXAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=4
    )
)
def test_changed_bytes_are_refused_or_harmless(changes):
    data = bytearray(EXAMPLE)
    for place, byte in changes:
        data[place] = byte
    refused_or_run(bytes(data))


def places(value: Any) -> list[tuple[Any, Any]]:
    """All (list or object, key) in a JSON value."""
    if not isinstance(value, list | dict):
        return []
    keys = list(value) if isinstance(value, dict) else range(len(value))
    return [place for key in keys for place in ((value, key), *places(value[key]))]


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.sampled_from([2**20, 10**6, 2**31, 10**30, -(2**63), 0.5, 1e308])
    | st.sampled_from([*OPERATIONS, *NESTINGS, "float64", "int32", "bool", "object", "", "CLIP"]),
    lambda one: st.lists(one, max_size=4) | st.dictionaries(st.text(max_size=3), one, max_size=2),
    max_leaves=6,
)


@hypothesis.settings(max_examples=600)
@hypothesis.given(st.data())
def test_changed_headers_are_refused_or_harmless(data):
    tree, numbers = header_of(EXAMPLE)
    for _ in range(data.draw(st.integers(1, 3))):
        choices = places(tree)
        container, key = choices[data.draw(st.integers(0, len(choices) - 1))]
        other, other_key = choices[data.draw(st.integers(0, len(choices) - 1))]
        match data.draw(st.sampled_from(["junk", "copy", "delete"])):
            case "junk":
                container[key] = data.draw(JUNK)
            case "copy":
                container[key] = json.loads(json.dumps(other[other_key]))
            case _:
                del container[key]
    refused_or_run(with_header(tree, numbers))


@hypothesis.settings(max_examples=400)
@hypothesis.given(st.data())
def test_operations_with_any_parameters_are_refused_or_harmless(data):
    """Parameters of the right kind but of any value, on operands of any shape."""
    name = data.draw(st.sampled_from(sorted({case.operation for case in CASES} & set(OPERATIONS))))
    case = next(case for case in CASES if case.operation == name)
    program = program_of(case.function, *case.arguments)
    tree, numbers = header_of(write_program(program))
    equations = [equation for equation in tree["equations"] if equation[0] == name]
    hypothesis.assume(equations)
    inside = places(equations[0][1:3])
    hypothesis.assume(inside)
    container, key = inside[data.draw(st.integers(0, len(inside) - 1))]
    container[key] = data.draw(JUNK)
    refused_or_run(with_header(tree, numbers))


def test_a_block_is_its_own_hash():
    first, second = example().structure, example().structure

    assert first is not second
    assert isinstance(first, Block)
    assert first == second
    assert hash(first) == hash(second)


def test_steps_of_other_operations_have_other_digests():
    """Though they have as many equations, of the same types, and the same numbers."""

    def step_of(operation):
        def step(state, t, noise):
            return operation(0.5 * state) + noise

        return ProgramStep(program_of(step, X, np.array(0.0), X), DT)

    one, again, other = (step_of(operation) for operation in (jnp.sin, jnp.sin, jnp.cos))
    assert step_digest(one) == step_digest(again)
    assert step_digest(one) != step_digest(other)
    assert len(repr(one.structure)) < 200
