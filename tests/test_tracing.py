"""Does a step traced into JAX give the numbers that NumPy gives, on the same noise?"""

import contextlib
import importlib.util
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import hypothesis.extra.numpy as hnp
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enso_jax.submissions.child._arrays import TracedArray, array, objects
from enso_jax.submissions.child._cells import Cell, Trace
from enso_jax.submissions.child._draws import ArraySource, NoiseGenerator, SharedDraw
from enso_jax.submissions.child._errors import CannotTrace
from enso_jax.submissions.child._jax_arrays import gathered
from enso_jax.submissions.child._operands import operand
from enso_jax.submissions.child._tracing import TracedStep, trace_step

DT = 1.0 / 30
MEMBERS = 24
SPREAD = np.array([1.0, 1.5, 20.0, 0.2, 4.0])
TIMES = [0.0, 0.4, 1.0, 3.97, 5.5, 6.0, 8.999, 11.5, 11.99, 12.0, 17.3, 23.5, 24.0]


# --- A submission and its two runs ---------------------------------------------------------------


@contextlib.contextmanager
def plainly_imported(folder: Path) -> Iterator[ModuleType]:
    """The submission's model as Python imports it, with NumPy itself."""
    modules, path = set(sys.modules), list(sys.path)
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("model", folder / "model.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["model"] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).resolve().is_relative_to(folder.resolve()):
                del sys.modules[name]


def states(members: int, seed: int = 1) -> np.ndarray:
    """States over the observed range and beyond."""
    return np.random.default_rng(seed).standard_normal((members, 5)) * SPREAD


def noise_for(step: TracedStep, members: int, seed: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((step.noise_size, members))


def assert_same_numbers(folder: Path, members: int = MEMBERS, rtol: float = 1e-12) -> TracedStep:
    """Traces a submission, and compares it with NumPy's run on the same noise."""
    step = trace_step(folder, DT)
    compiled = jax.jit(jax.vmap(step.function, (0, None, 1)))
    before, noise = states(members), noise_for(step, members)
    with plainly_imported(folder) as model:
        for t in TIMES:
            source = ArraySource(noise)
            expected = model.step(before.copy(), t, DT, NoiseGenerator(source))
            result = compiled(jnp.asarray(before), jnp.asarray(t), jnp.asarray(noise))
            assert result.dtype == jnp.float64
            assert result.shape == (members, 5)
            np.testing.assert_allclose(result, expected, rtol=rtol, atol=rtol * SPREAD.min())
            assert source.used == step.noise_size
    return step


@pytest.fixture
def submission(tmp_path):
    """Makes a submission of the body of a step, or of all of model.py, and other files."""

    def write(code: str, **files: str) -> Path:
        folder = tmp_path / "submission"
        folder.mkdir(exist_ok=True)
        (folder / "model.py").write_text("import numpy as np\n" + textwrap.dedent(code))
        for name, text in files.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(text))
        return folder

    return write


# --- The ten models -----------------------------------------------------------------------------


def example(name: str) -> Path:
    """One of the complete models in ten styles, which are no part of the project."""
    folder = os.environ.get("ENSO_SUBMISSIONS")
    if not folder and os.environ.get("ENSO_OBSERVATIONS"):
        folder = Path(os.environ["ENSO_OBSERVATIONS"]).parent / "submissions"
    if folder and (Path(folder) / name).is_dir():
        return Path(folder) / name
    reason = "set ENSO_SUBMISSIONS to the folder of the ten models"
    if os.environ.get("ENSO_REQUIRE_OBSERVATIONS"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("name", "rtol"),
    [
        ("s01_class_based", 1e-12),
        ("s02_functional_closures", 1e-12),
        ("s03_monthly_tables", 1e-12),
        ("s04_expm_exact", 1e-12),
        ("s05_correlated_noise", 1e-12),
        ("s06_substep_heun_milstein", 1e-12),
        ("s07_inplace_masks", 1e-12),
        ("s08_einsum_dataclass", 1e-12),
        ("s09_helpers_float32", 1e-5),
    ],
)
@pytest.mark.parametrize("members", [1, MEMBERS])
def test_the_complete_models_trace_to_the_same_numbers(name, rtol, members):
    step = assert_same_numbers(example(name), members, rtol)

    assert step.noise_size == 5


def test_a_draw_that_cannot_be_mapped_is_named_with_its_line():
    folder = example("s10_wind_bursts")
    lines = (folder / "model.py").read_text().splitlines()

    with pytest.raises(CannotTrace) as caught:
        trace_step(folder, DT)

    assert caught.value.file == "model.py"
    assert "rng.poisson" in lines[caught.value.line - 1]
    assert "rng.poisson" in str(caught.value)
    assert str(caught.value).startswith(f"model.py, line {caught.value.line}: ")


# --- NumPy code in many styles ------------------------------------------------------------------

#: Bodies of ``def step(x, t, dt, rng)`` after ``x = x.copy()``; each returns the new state.
STYLES = {
    "write through a view": """
        col = x[:, 0]
        col += 2.0 * x[:, 1]
        pair = x[:, 1:3]
        pair[:, 0] *= 0.5
        rows = x.T
        rows[4] -= col
        x.reshape(-1, 5)[:, 2] = x.ravel().reshape(x.shape)[:, 3]
        flat = x.flatten()
        flat[:] = 0.0
        return x
    """,
    "boolean masks": """
        T = x[:, 1]
        warm = T > 0.5
        T[warm] -= 0.1 * (T[warm] - 0.5) ** 2
        x[warm & (x[:, 0] > 0), 2] = 3.0
        x[~warm] *= 0.9
        x[x > 15.0] = 15.0
        x[np.abs(x[:, 3]) > 0.2, 3:] = np.array([0.1, 0.2])
        return x
    """,
    "indices of a mask": """
        rows = np.where(x[:, 1] > 0)[0]
        x[rows, 2] += 1.0
        idx = np.flatnonzero(x[:, 0] < 0)
        x[idx] = x[idx] * 0.5 + np.arange(5.0)
        x[np.nonzero(x[:, 3] > 0)] -= 0.5
        return x
    """,
    "reductions of a mask": """
        warm = x[:, 1] > 0
        if np.any(warm):
            x[warm] = np.where(x[warm] > 1, np.clip(x[warm], -3, 3), np.sqrt(np.abs(x[warm])))
        return x
    """,
    "tables by month": """
        table = np.linspace(0.0, 1.0, 12) ** 2
        month = int(np.floor(t)) % 12
        x[:, 0] += table[month] + table[(month + 1) % 12] * (t - np.floor(t))
        x[:, 1] += [0.1 * k for k in range(12)][int(t % 12)]
        x[:, 2] += {0: 5.0, 1: 7.0}.get(month // 6, 0.0)
        x[:, 3:] *= np.ones((12, 2))[month - 12]
        return x
    """,
    "branches on the calendar": """
        month = int(t) % 12 + 1
        if month <= 2 or month == 12:
            x[:, 1] += 1.0
        elif 3 <= month < 6:
            x[:, 1] -= 1.0
        season = ("djf", "mam", "jja", "son")[(month % 12) // 3]
        x[:, 2] *= {"djf": 1.0, "mam": 0.5, "jja": 0.25, "son": 0.125}[season]
        return x
    """,
    "branches on the time": """
        phase = (t % 12) / 12
        if phase < 0.25:
            x *= 0.5
        w = 1.0 if phase > 0.75 else phase
        for _ in range(3):
            if w > 0.5:
                w -= 0.25
        x[:, 0] += w if not 0.3 < phase < 0.4 else 0
        return x * max(phase, 0.5) + min(t, 4, 1.5) + round(t) + abs(t - 3)
    """,
    "a loop over members": """
        out = np.empty_like(x)
        for i in range(len(x)):
            TC, TE, h, u, tau = x[i]
            if TE > 2.0 and TC > 0:
                TE = TE - 0.1
            elif 0 < TE < 1:
                TE *= 2
            out[i] = [TC, TE, np.float64(h), float(u) + 1, tau if tau > 0 else -tau]
        return out
    """,
    "select and piecewise": """
        T = x[:, 1]
        x[:, 0] = np.select([T > 1, T < -1], [T - 1, T + 1], default=0.0)
        x[:, 1] = np.piecewise(T, [T < 0, T >= 0], [lambda z: z / 2, lambda z: z * z])
        x[:, 2] = np.piecewise(x[:, 2], [x[:, 2] > 5], [5.0, lambda z: z])
        return np.where(x > 0, x, 0.5 * x)
    """,
    "products": """
        A = np.arange(25.0).reshape(5, 5) / 50
        B = np.zeros((5, 5, 5)); B[1, 2, 3] = 0.01; B[0, 0, 0] = 0.02
        y = x @ A.T + np.einsum("ijk,nj,nk->ni", B, x, x)
        y += np.tensordot(x, A, axes=([1], [0])) + np.matmul(A, x[..., None])[..., 0]
        y += np.dot(x, A) + (A @ x.T).T + x.dot(A) + np.inner(x, A)
        outer = np.einsum("ni,nj->nij", x, x)
        y += np.trace(outer, axis1=1, axis2=2)[:, None] * 1e-3
        return y + np.multiply.outer(x[:, 0], np.ones(5))
    """,
    "a solve on constants": """
        A = np.eye(5) + 0.1 * np.arange(25.0).reshape(5, 5) / 25
        C = np.linalg.cholesky(A @ A.T)
        w, V = np.linalg.eigh(A + A.T)
        y = np.linalg.solve(A, x.T).T @ np.linalg.inv(C).T
        e = np.linalg.eig(A)[0]
        return y @ (V * np.sqrt(w)) @ V.T + np.linalg.norm(A) + np.sum(e).real
    """,
    "linear algebra of traced matrices": """
        y = np.empty_like(x)
        for n in range(len(x)):
            M = np.eye(3) * 4.0 + 0.1 * np.outer(np.tanh(x[n, :3]), np.tanh(x[n, :3]))
            y[n, :3] = np.linalg.solve(M, x[n, :3]) + np.linalg.inv(M) @ x[n, 1:4]
            L = np.linalg.cholesky(M)
            w, _ = np.linalg.eigh(M)
            y[n, 3:] = np.linalg.det(M) + L[1, 0], w[-1] + np.linalg.norm(x[n])
        return y
    """,
    "stacking": """
        a, b, c, d, e = (x[:, i] for i in range(5))
        y = np.stack([a, b, c, d, e], axis=1) + np.column_stack((a, b, x[:, 2:]))
        y += np.hstack([x[:, :2], x[:, 2:]]) + np.vstack([a, b, c, d, e]).T
        y += np.concatenate([x[:, 3:], x[:, :3]], axis=1) + np.array([e, d, c, b, a]).T
        y += np.c_[a, b, x[:, 2:4], d] + np.tile(a[:, None], (1, 5))
        return y + np.repeat(b, 5).reshape(-1, 5) + np.array([row * 2 for row in x])
    """,
    "moving elements": """
        y = np.roll(x, 1, axis=1) + x[:, ::-1] + x[:, [1, 0, 2, 4, 3]]
        y[:, 1:] += np.diff(x, axis=1)
        y += np.cumsum(x, axis=1) + np.flip(x, axis=1) + np.take(x, [4, 3, 2, 1, 0], axis=1)
        left, right = np.split(y, [2], axis=1)
        left *= 2.0
        y[:, 4] += np.swapaxes(x, 0, 1)[0] + np.squeeze(x[:, 1:2], axis=1)
        return np.atleast_2d(y) + np.broadcast_to(np.arange(5.0), y.shape)
    """,
    "reductions": """
        y = x + x.sum(axis=1, keepdims=True) + x.mean(axis=1)[:, None]
        y -= np.max(x, axis=1, keepdims=True) + np.min(x, axis=1)[:, None]
        y *= 1 + 0.1 * x.std(axis=1)[:, np.newaxis] + 0.1 * np.var(x, axis=1, ddof=1)[:, None]
        y += np.maximum.reduce([x[:, 0], x[:, 1], x[:, 2]])[:, None]
        y += np.prod(x[:, 3:], axis=1)[:, None]
        y += np.any(x > 3, axis=1)[:, None] * 2 + np.all(x < 3, axis=1)[:, None]
        y += np.argmax(x, axis=1)[:, None] + np.count_nonzero(x > 0, axis=1)[:, None]
        return y + np.average(x, axis=1, weights=[1, 2, 3, 4, 5])[:, None] + sum(x.T)[:, None]
    """,
    "sorting": """
        y = np.sort(x, axis=1) + np.median(x, axis=1, keepdims=True)
        return y + np.linalg.norm(x, axis=1, keepdims=True)
    """,
    "interpolation": """
        nodes = np.array([-2.0, -0.5, 0.0, 1.0, 3.0])
        x[:, 1] = np.interp(x[:, 1], nodes, nodes**2)
        x[:, 0] += np.interp(t % 12, np.arange(13.0), np.sin(np.arange(13.0)))
        x[:, 2] += np.interp(t, np.arange(12) + 0.5, np.arange(12.0) ** 2, period=12)
        x[:, 3] += np.array([0.1, 0.2, 0.3, 0.4])[np.digitize(x[:, 0], [-1.0, 0.0, 1.0])]
        x[:, 4] += np.searchsorted(nodes, x[:, 4])
        return x
    """,
    "clips and bounds": """
        low, high = np.array([-1, -1, -9, -0.1, -2.0]), np.array([1, 1, 9, 0.1, 2.0])
        y = np.clip(x, low, high) + x.clip(-2, 2) + np.clip(x, None, 1.0)
        np.clip(x, low, high, out=x)
        return y + x + np.fmin(np.fmax(x, -0.5), 0.5)
    """,
    "ufuncs with out and where": """
        y = np.zeros_like(x)
        np.multiply(x, 2.0, out=y)
        np.add(y, x, out=y[:, :5])
        np.sqrt(x, out=y, where=x > 0)
        x **= 2
        x //= 0.5
        x %= 3
        np.add.at(y, (slice(None), [0, 0, 1]), 1.0)
        np.copyto(y, -1.0, where=x == 0)
        return y + np.divide(x, y, out=np.zeros_like(x), where=np.abs(y) > 1)
    """,
    "elementary functions": """
        s = np.clip(x, -3, 3)
        y = np.sign(s) + np.heaviside(s, 0.5) + np.mod(x, 1.7) + np.floor(x) + np.ceil(x)
        y += np.rint(x) + np.trunc(x) + np.fix(x)
        y += np.exp(s) * np.tanh(s) + np.log1p(np.abs(x)) + np.hypot(s, 1.0) + np.arctan2(s, x + 9)
        y += np.power(np.abs(x), 1.5) + np.abs(x) ** 0.5 + s**3 + 2.0**s + np.square(s) + np.cbrt(s)
        y += np.isfinite(x) * 1.0 + np.nan_to_num(x / x, nan=2.0) + np.round(x, 2) + np.fabs(s)
        y += np.divmod(x, 2.0)[1] + np.sinc(0.5) + np.where(np.isnan(x), 0, x)
        with np.errstate(divide="ignore", over="ignore"):
            y += 1.0 / np.cosh(s)
        return y + np.copysign(1.0, s) + np.maximum(s, 0) + np.logical_not(s > 0) + np.expm1(s)
    """,
    "math": """
        import math
        w = math.cos(2 * math.pi * t / 12) + math.floor(t) + math.sqrt(t + 1) + math.exp(-t)
        w += math.fmod(t, 5) + math.atan2(t, 2) + pow(t, 2) + divmod(t, 5)[1] + math.log(t + 1)
        if math.isfinite(w):
            x = x + w
        return x + math.hypot(t, 1.0) + (t // 3) - (-t) % 5 + math.log(2 + t, 2) + int(t / 2)
    """,
    "single precision": """
        y = x.astype(np.float32) * np.float32(0.5) + 0.25
        y = (y * 2).astype("f4") + np.float32(np.cos(t))
        assert y.dtype == np.float32
        return y.astype(float)
    """,
    "integers and truth values": """
        k = np.floor(x).astype(int)
        parity = (k % 2 == 0).astype(float)
        y = x + parity + (k // 3) + k.astype(np.float64) / 7 + (k & 3)
        count = (x > 0).sum(axis=1)
        return y + count[:, None] + np.array([True, False, True, True, False]) * x
    """,
    "traced indices": """
        table = np.arange(20.0).reshape(4, 5) ** 2
        bin_ = np.clip(np.floor(x[:, 1]).astype(int) + 2, 0, 3)
        y = x + table[bin_] + table[bin_, 1][:, None] + table[3 - bin_][:, ::-1]
        y[np.arange(len(x)), bin_] = 7.0
        y += x[np.arange(len(x)), bin_][:, None]
        return y
    """,
    "checks of the input": """
        if not isinstance(x, np.ndarray) or x.ndim != 2 or x.shape[1] != 5:
            raise ValueError("bad shape")
        assert x.dtype == np.float64 and isinstance(t, (int, float)) and np.isscalar(t)
        if not np.all(np.isfinite(x)):
            raise FloatingPointError(f"state is not finite at t = {t:.2f}: {x}")
        if isinstance(x[0, 0], float) and np.issubdtype(x.dtype, np.floating):
            x = np.ascontiguousarray(x) + 1
        return np.asarray(x.tolist() if False else x, dtype=float)
    """,
    "a function of one number": """
        f = np.vectorize(lambda a, b: a if a > b else b * 2)
        x[:, 0] = f(x[:, 0], 0.3)
        return np.apply_along_axis(lambda row: row - row.mean(), 1, x)
    """,
    "a generator used in many ways": """
        n = len(x)
        x += np.sqrt(dt) * rng.standard_normal((n, 5)) + rng.normal(0.1, np.abs(x[:, :1]), (n, 1))
        x[:, 0] += rng.normal(size=n) * rng.uniform(-1, 1, n) + rng.random(n)
        x[:, 1] += rng.exponential(0.5, n) + rng.laplace(0, 0.1, n) + rng.lognormal(0, 0.1, n)
        x[:, 2] += rng.integers(0, 4, n) + rng.integers(3, size=n, endpoint=True)
        x[:, 3] += rng.choice([1.0, 2.0, 4.0], n, p=[0.2, 0.5, 0.3]) + rng.choice(3, size=n)
        x[:, 4] += rng.standard_t(4, n) + rng.chisquare(3, n) + rng.rayleigh(1.0, n)
        C = np.array([[1.0, 0.5], [0.5, 1.0]])
        x[:, :2] += rng.multivariate_normal([0.0, 1.0], C, size=n)
        x[:, 2:4] += rng.multivariate_normal(np.zeros(2), np.ones((2, 2)), n, method="cholesky")
        x[:, 4] += rng.triangular(-1, 0, 2, n) + rng.logistic(0, 1, n) + rng.gumbel(size=n)
        out = np.empty(n)
        rng.standard_normal(out=out)
        f4 = rng.standard_normal(n, dtype=np.float32)
        return x + out[:, None] + rng.normal(x, 0.1)
    """,
    "arrays given to be written to": """
        y, z, A = np.zeros(x.shape), np.zeros((5, 5)), np.eye(5) * 2
        np.dot(A, A, z)
        np.dot(x, z, out=y)
        np.cumsum(x, axis=1, out=x)
        v = y.view()
        v += 1
        y.flat[0:1] = 2.0 if False else y[:1, 0]
        np.fill_diagonal(z, 7.0)
        w = np.asarray(z)
        w[0, :] = x[:1, 0] * 0
        z[1] *= z[0, 1]
        np.putmask(y, y > 3, 3.0)
        np.place(x, x > 9, 9.0)
        return y + x + z[0] + np.diagonal(A) + np.array(A)[1]
    """,
    "draws in another layout": """
        n = x.shape[0]
        z = rng.standard_normal((5, n)).T
        w = rng.standard_normal((n, 2, 3)).sum(axis=(1, 2))
        return x + z + w[:, None]
    """,
    "draws in a loop": """
        for k in range(3):
            x = x + 0.1 * rng.standard_normal(x.shape) * (1 + 0.5 * np.tanh(x))
        return x
    """,
}


@pytest.mark.parametrize("style", STYLES)
def test_ordinary_code_traces_to_the_same_numbers(style, submission):
    body = textwrap.indent(textwrap.dedent(STYLES[style]), "    ")
    rtol = 1e-5 if "single" in style else 1e-12

    assert_same_numbers(
        submission(f"def step(x, t, dt, rng):\n    x = x.copy()\n{body}"), rtol=rtol
    )


#: Whole modules after ``import numpy as np``.
MODULES = {
    "a class and a cache by dt": """
        import functools
        import scipy.linalg

        class Model:
            A = -0.1 * np.eye(5)

            def __init__(self):
                self.sigma = np.full(5, 0.1)

            @functools.lru_cache(maxsize=None)
            def propagator(self, dt):
                return scipy.linalg.expm(self.A * dt)

            def __call__(self, x, t, dt, rng):
                self.sigma[2] = 0.3
                noise = self.sigma * np.sqrt(dt) * rng.standard_normal(x.shape)
                return x @ self.propagator(float(dt)).T + noise

        step = Model()
    """,
    "a cache of traced values": """
        from functools import lru_cache

        @lru_cache
        def season(t):
            return np.cos(2 * np.pi * t / 12)

        _cache = {}

        def remembered(t):
            key = f"{t:.6f}"
            if key not in _cache:
                _cache[key] = np.sin(t)
            return _cache[key]

        def step(x, t, dt, rng):
            return x + season(t) + remembered(t)
    """,
    "closures and default arguments": """
        def build(rate, offset=np.zeros(5)):
            def tendency(x, scale=np.array([1.0, 2.0, 3.0, 4.0, 5.0])):
                return -rate * x / scale + offset
            return tendency

        f = build(0.2)

        def step(x, t, dt, rng, f=f, *, order=2):
            k1 = f(x)
            k2 = f(x + dt * k1)
            return x + dt / order * (k1 + k2)
    """,
    "a dataclass with arrays": """
        from __future__ import annotations
        from dataclasses import dataclass, field

        @dataclass
        class Params:
            A: np.ndarray
            rate: float = 0.5
            names: list[str] = field(default_factory=list)

            @property
            def scaled(self) -> np.ndarray:
                return self.A * self.rate

        P = Params(np.eye(5))

        def step(x: np.ndarray, t: float, dt: float, rng: np.random.Generator) -> np.ndarray:
            return x @ P.scaled
    """,
    "SciPy's functions": """
        from scipy import special, stats
        from scipy.special import expit
        from scipy.stats import norm
        import scipy.linalg as sla

        A = sla.solve(np.eye(5) * 2.0, np.eye(5))

        def step(x, t, dt, rng):
            y = expit(x) + special.erf(x) + norm.cdf(x) + stats.norm.pdf(x, 0.0, 2.0)
            return x @ A + y + norm.ppf(0.3) + special.ndtr(x)
    """,
    "logging and warnings": """
        import logging, sys, warnings
        from typing import Final

        log = logging.getLogger(__name__)
        SIZE: Final[int] = 5

        def step(x, t, dt, rng):
            log.debug("t = %s, %r", t, x)
            print("t", t, x.shape, file=sys.stderr)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return x * float(1) + int(SIZE)
    """,
    "a fixed seed at import": """
        TABLE = np.random.default_rng(3).standard_normal((12, 5))

        def step(x, t, dt, rng):
            return x + TABLE[int(t) % 12]
    """,
    "types of NumPy": """
        from numpy.typing import NDArray, ArrayLike
        from numpy import float64 as f8, cos, pi, newaxis
        from numpy.linalg import cholesky
        from math import cos as mcos

        Array = NDArray[np.float64]
        Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
        Maybe = float | np.ndarray | None

        def step(x: Array, t: Maybe, dt, rng):
            a = np.asarray(x, dtype=np.dtype(float)) + np.zeros(5, dtype=f8)[newaxis, :]
            b = np.array([1, 2, 3, 4, 5], dtype=int) * np.float64(t)
            assert a.dtype == np.float64 and np.finfo(np.float64).eps < 1e-10
            assert isinstance(np.float64(1), np.floating) and isinstance(3, int)
            return a + b * cos(pi * t) + mcos(t) + cholesky(np.eye(5)).astype(f8).sum()
    """,
}


@pytest.mark.parametrize("style", MODULES)
def test_ordinary_modules_trace_to_the_same_numbers(style, submission):
    code = textwrap.dedent(MODULES[style])
    if "__future__" in code:  # comes first in a file
        code = code.replace("from __future__ import annotations\n", "")
    assert_same_numbers(submission(code))


def test_helper_modules_beside_the_model_are_imported(submission):
    folder = submission(
        """
        import helpers
        from helpers import rate as R, table

        def step(x, t, dt, rng):
            x[:, 0] += table[int(t) % 12]
            return helpers.damped(x) * R
        """,
        helpers="""
        import numpy as np
        from constants import rate

        table = np.zeros(12)
        table[3:6] = 1.0

        def damped(x):
            x[:, 1] *= 0.5
            return x
        """,
        constants="rate = 0.5",
    )
    before = set(sys.modules), list(sys.path)

    assert_same_numbers(folder)

    assert (set(sys.modules) - before[0]) & {"model", "helpers", "constants"} == set()
    assert not [name for name in sys.modules if name.startswith("_submission_")]
    assert sys.path == before[1]


# --- What cannot be traced ------------------------------------------------------------------------

REFUSED = {
    "a gamma draw": ("x[:, 0] += rng.gamma(2.0, 1.0, len(x))", "rng.gamma"),
    "a generator of its own": ("x += np.random.default_rng(1).normal(size=5)", "its own"),
    "a generator seeded by another": (
        "r = np.random.default_rng(rng.integers(9, size=1)); x += r.normal(size=5)",
        "its own",
    ),
    "the global generator": ("x += np.random.randn(5)", "np.random.randn"),
    "Python's generator": ("import random; x += random.gauss(0, 1)", "random.gauss"),
    "a loop that the state ends": ("while x[0, 0] > 0.1:\n        x *= 0.9", "ways"),
    "a key of any number": ("x[:, 0] += {0.0: 1.0}.get(t, 0.0)", "where Python needs"),
    "a mask that changes the shape": ("y = x[x[:, 0] > 0]\n    x[0] = y[0]", "mask"),
    "an unknown function": ("x = np.fft.fft(x).real", "np.fft"),
    "too few variables": ("x = x[:, :4]", "shape"),
    "integers": ("x = np.zeros(x.shape, int)", "int64"),
    "an error of its own": ("x += undefined", "NameError"),
    "errors made exceptions": ("np.seterr(all='raise')", "exceptions"),
    "a swallowed refusal": (
        "try:\n        x[:, 0] += rng.poisson(1.0, 1)\n    except Exception:\n        x += 1",
        "rng.poisson",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_traced_is_said_in_the_submitters_terms(what, submission):
    body, said = REFUSED[what]
    folder = submission(
        f"def step(x, t, dt, rng):\n    x = np.array(x)\n    {body}\n    return x\n"
    )

    with pytest.raises(CannotTrace) as caught:
        trace_step(folder, DT)

    assert said in str(caught.value)
    if "returned" not in str(caught.value):
        assert caught.value.file == "model.py"
        assert caught.value.line >= 3


def test_the_line_is_that_of_the_innermost_module(submission):
    folder = submission(
        "import helpers\n\ndef step(x, t, dt, rng):\n    return helpers.kick(x, rng)\n",
        helpers="def kick(x, rng):\n    return x + rng.poisson(1.0, 1)\n",
    )
    with pytest.raises(CannotTrace, match=r"^helpers\.py, line 2: rng\.poisson"):
        trace_step(folder, DT)


def test_a_traced_step_has_a_derivative(submission):
    folder = submission(
        """
        def step(x, t, dt, rng):
            x[x[:, 1] > 0, 0] *= 2.0
            return x**3 + 0.1 * rng.standard_normal(x.shape)
        """
    )
    function = trace_step(folder, DT).function
    state = jnp.array([0.5, 1.0, -2.0, 0.3, 0.0])

    jacobian = jax.jacrev(function)(state, jnp.asarray(0.0), jnp.zeros(5))

    expected = np.diag(3 * np.array(state) ** 2 * np.array([8, 1, 1, 1, 1]))
    np.testing.assert_allclose(jacobian, expected, atol=1e-12)


def test_sub_steps_draw_more_noise(submission):
    folder = submission(
        """
        def step(x, t, dt, rng):
            n = max(1, int(np.ceil(dt / 0.25 - 1e-9)))
            for k in range(n):
                x = x + np.sqrt(dt / n) * rng.standard_normal((len(x), 3)) @ np.ones((3, 5))
            return x
        """
    )
    assert [trace_step(folder, dt).noise_size for dt in (1 / 30, 0.3, 1.0)] == [3, 6, 12]


def test_a_path_that_raises_gives_no_number(submission):
    folder = submission(
        """
        def step(x, t, dt, rng):
            if x[0, 1] > 5.0:
                raise FloatingPointError(f"too warm: {x[0, 1]}")
            return x * 0.5
        """
    )
    step = trace_step(folder, DT)

    assert np.isnan(step.function(jnp.full(5, 6.0), jnp.asarray(0.0), jnp.zeros(0))).all()
    np.testing.assert_allclose(step.function(jnp.full(5, 4.0), jnp.asarray(0.0), jnp.zeros(0)), 2.0)


def test_a_draw_that_members_would_share_is_refused_in_numpy():
    rng = NoiseGenerator(ArraySource(np.zeros((9, 4))))

    with pytest.raises(SharedDraw):
        rng.standard_normal(5)
    with pytest.raises(SharedDraw):
        rng.normal()
    assert rng.standard_normal((4, 2)).shape == (4, 2)
    assert isinstance(rng, np.random.Generator)


def test_draws_follow_their_distributions():
    size = 200_000
    source = ArraySource(np.random.default_rng(0).standard_normal((40, size)))
    rng, real = NoiseGenerator(source), np.random.default_rng(1)
    draws = [
        lambda r: r.uniform(1, 3, size),
        lambda r: r.exponential(2.0, size),
        lambda r: r.laplace(1.0, 0.5, size),
        lambda r: r.integers(2, 7, size).astype(float),
        lambda r: r.choice([1.0, 5.0, 6.0], size, p=[0.2, 0.7, 0.1]),
        lambda r: r.standard_t(9, size),
        lambda r: r.chisquare(3, size),
        lambda r: r.rayleigh(2.0, size),
        lambda r: r.triangular(-1, 0, 3, size),
        lambda r: r.logistic(0, 1, size),
        lambda r: r.gumbel(0, 1, size),
        lambda r: r.weibull(1.5, size),
        lambda r: r.lognormal(0, 0.5, size),
    ]
    for draw in draws:
        ours, theirs = draw(rng), draw(real)
        np.testing.assert_allclose(
            ours.mean(), theirs.mean(), atol=5 * theirs.std() / size**0.5 * 2
        )
        np.testing.assert_allclose(ours.std(), theirs.std(), rtol=0.02)


# --- Small programs, drawn at random --------------------------------------------------------------

SHAPE = (2, 3)
_numbers = st.floats(-3, 3).map(lambda v: round(v, 3))

#: Statements about arrays ``a`` and ``b`` of one shape, a number ``s``, and views of ``a``.
STATEMENTS = (
    "a += b",
    "a *= 0.5",
    "a[:, 1] -= s",
    "v = a[0]; v += b[1]",
    "v = a.T; v[1] *= 0.5; v[1, 0] = s",
    "v = a[:, ::2]; v[...] = b[:, :2]",
    "v = a.reshape(-1); v[1:3] = s",
    "v = a.ravel()[::2]; v -= 1",
    "v = a.T.reshape(-1); v += 9",
    "a[a > 1] = 1",
    "a[b > 0] -= 0.1 * b[b > 0]",
    "a[[1, 0]] = a",
    "a[1, [0, 2]] = b[0, [2, 0]]",
    "b = np.where(a > b, a, b)",
    "b = a + b[::-1]",
    "b = np.tanh(a) * b.mean()",
    "a, b = b, a",
    "a = np.concatenate([a[:, 1:], b[:, :1]], axis=1)",
    "a = np.clip(a, b, b + 1)",
    "s = a[1, 2] * s",
    "s += b.sum()",
    "b = b - b.max(axis=0)",
    "b = (a @ b.T) @ b * 0.1",
    "b = np.minimum(a, s)",
    "a = np.array([a[1], b[0]])",
    "a = np.roll(a, 1, axis=0); a.flat[0] if False else None",
    "b = (a.astype(np.float32) + 1).astype(float)",
    "b = np.floor(a) + (a > b)",
    "b = np.cumsum(b, axis=1) / 3",
    "np.multiply(a, b, out=a)",
    "np.add(a, 1, out=b[:, :3], where=a < 0)",
    "b = np.abs(a) ** 0.5",
    "v = np.expand_dims(a, 1)[:, 0]; v[0] = b[0]",
    "for row in a: row += 1",
)


def run(statements: list[str], a, b, s, numpy) -> tuple:
    """Runs a program on some arrays and gives what they have become."""
    names = {"a": a, "b": b, "s": s, "np": numpy}
    for statement in statements:
        exec(statement, names)
    return names["a"], names["b"], names["s"]


@given(
    st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=8),
    hnp.arrays(float, SHAPE, elements=_numbers),
    hnp.arrays(float, SHAPE, elements=_numbers),
    _numbers,
)
def test_programs_of_in_place_writes_and_views_are_numpys(statements, a, b, s):
    from enso_jax.submissions.child._proxies import stand_in
    from enso_jax.submissions.child._scalars import TracedScalar

    expected = run(statements, a.copy(), b.copy(), np.float64(s), np)
    dtype = np.dtype(float)
    trace = Trace()

    def traced(values: np.ndarray) -> TracedArray:
        cells = [Cell(trace, jnp.asarray(v), dtype) for v in values.flat]
        return array(objects(cells, values.shape), dtype)

    number = TracedScalar(Cell(trace, jnp.asarray(s), dtype))
    results = run(statements, traced(a), traced(b), number, stand_in("numpy"))

    for result, value in zip(results, expected, strict=True):
        found = operand(result)
        assert found.dtype == value.dtype
        assert found.values.shape == np.shape(value)
        np.testing.assert_allclose(gathered(found.values, found.dtype), value, rtol=1e-6, atol=1e-6)
