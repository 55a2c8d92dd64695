"""What every test shares: a strict JAX, the measured record, and small things to test with."""

import os

# Before NumPy is imported, which reads it once. While some tests try to start thousands of
# processes, OpenBLAS may not get the thread that it then waits for, for ever.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from enso_jax import cli
from enso_jax.grading import make_room_for_programs
from enso_jax.models import TermModel, drift, noise
from enso_jax.observations import Record, Series, SstProfile, read_record
from enso_jax.protocol import EVENT_TYPES, Protocol
from enso_jax.state import NAMES, month_index

# --- A strict JAX ---------------------------------------------------------------------

# The silent bugs of JAX are a float32 where float64 was meant, an array that broadcasts
# by accident and a promotion nobody asked for. All three are errors here.
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

hypothesis.settings.register_profile(
    "tests", deadline=None, derandomize=True, database=None, max_examples=60
)
hypothesis.settings.load_profile("tests")


def pytest_configure(config: pytest.Config) -> None:
    """Makes warnings errors, and keeps compiled programs from one run of the tests to the next."""
    config.addinivalue_line("filterwarnings", "error")
    folder = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    jax.config.update("jax_compilation_cache_dir", folder or str(config.cache.mkdir("jax")))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


@pytest.fixture(autouse=True, scope="module")
def room_for_programs() -> None:
    """Hundreds of tests in one process compile more programs than it can hold."""
    make_room_for_programs()


# --- The measured record ----------------------------------------------------------------


@pytest.fixture(scope="session")
def measured_record() -> Record:
    """The measured record, which is no part of the project; without it its tests are skipped."""
    folder = os.environ.get("ENSO_OBSERVATIONS")
    if folder:
        return read_record(Path(folder))
    reason = "set ENSO_OBSERVATIONS to the folder of the measured record"
    if os.environ.get("ENSO_REQUIRE_OBSERVATIONS"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_submissions() -> list[Path]:
    """Ten models in ten styles, which lie beside the measured record; skipped without them."""
    folder = os.environ.get("ENSO_OBSERVATIONS")
    found = sorted(Path(folder).parent.glob("submissions/s*")) if folder else []
    if found:
        return found
    reason = "there is no folder submissions beside the one in ENSO_OBSERVATIONS"
    if os.environ.get("ENSO_REQUIRE_OBSERVATIONS"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def small_record() -> Record:
    """Twenty years of red noise, and a profile that is T_C in the west and T_E in the east."""
    rng = np.random.default_rng(0)
    longitude = np.linspace(140.0, 280.0, 141)
    west = np.exp(-(((longitude - 190.0) / 25.0) ** 2))
    east = np.exp(-(((longitude - 240.0) / 25.0) ** 2))
    five = red_noise(rng, 240, 5)

    def series(values: np.ndarray, year: int) -> Series:
        names = NAMES[: values.shape[1]]
        return Series(month_index(year, 1), names, values, np.ones(values.shape, bool))

    return Record(
        name="red noise",
        kind="simulated",
        description="First-order autoregressions",
        long=series(five[:, :2], 1950),
        development=series(five[:180], 1980),
        held_out=series(five[180:], 2015),
        profile=SstProfile(longitude, np.zeros_like(longitude), east, west),
        event_counts=dict.fromkeys(EVENT_TYPES, 4),
        peaks=None,
        digest="0" * 64,
    )


def red_noise(rng: np.random.Generator, months: int, variables: int) -> np.ndarray:
    """First-order autoregressions of variance 1 and memory 0.9, ``(month, variable)``."""
    values = np.zeros((months, variables))
    values[0] = rng.standard_normal(variables)
    for month in range(1, months):
        shock = np.sqrt(1 - 0.9**2) * rng.standard_normal(variables)
        values[month] = 0.9 * values[month - 1] + shock
    return values


# --- Protocols --------------------------------------------------------------------------


@pytest.fixture(scope="session")
def small_protocol() -> Callable[..., Protocol]:
    """Makes a protocol of a short run and small ensembles; any constant can be given by name.

    Its noise is float64, so that a NumPy run on the same noise is the same to rounding.
    """

    def make(**changes: object) -> Protocol:
        small = Protocol(
            noise_dtype="float64",
            free_run_years=12,
            free_run_spin_up_years=2,
            segment_years=5,
            event_segment_years=5,
            smoother_members=20,
            forecast_members=20,
        )
        return dataclasses.replace(small, **changes)

    return make


# --- A model whose every statistic is known ---------------------------------------------


@dataclasses.dataclass(frozen=True)
class Linear:
    """A linear model with additive noise, and what is known of it exactly.

    Units are plain (scales of 1, months), the drift is ``A x`` and the noise has standard
    deviations `sigma` per square root of a month. One Euler step is then
    ``x -> M x + noise of covariance Q``.

    Attributes:
        model: the same as a `TermModel`.
        step_map, step_covariance: M and Q of one step of 1/30 month.
    """

    model: TermModel
    A: np.ndarray
    sigma: np.ndarray
    steps: int = 30

    @property
    def step_map(self) -> np.ndarray:
        return np.eye(5) + self.A / self.steps

    @property
    def step_covariance(self) -> np.ndarray:
        return np.diag(self.sigma**2) / self.steps

    def month_map(self, months: int = 1) -> np.ndarray:
        """What `months` months make of a state."""
        return np.linalg.matrix_power(self.step_map, self.steps * months)

    def month_covariance(self, months: int = 1) -> np.ndarray:
        """The covariance that the noise of `months` months adds."""
        total = np.zeros((5, 5))
        for _ in range(self.steps * months):
            total = self.step_map @ total @ self.step_map.T + self.step_covariance
        return total


#: Damped within months, with an oscillation of T_E and h_W: rows are T_C, T_E, h_W, u, tau.
LINEAR_DRIFT = np.array(
    [
        [-0.35, 0.10, 0.10, 0.15, 0.10],
        [-0.10, -0.30, 0.25, 0.20, 0.10],
        [0.05, -0.25, -0.20, -0.10, -0.05],
        [-0.20, 0.15, 0.30, -0.60, 0.05],
        [0.50, -0.25, -0.10, 0.10, -0.80],
    ]
)
LINEAR_NOISE = np.array([0.4, 0.5, 0.3, 0.6, 0.9])


def linear_model(A: np.ndarray, sigma: np.ndarray) -> TermModel:
    """``dx = A x dt + sigma dW`` in months and plain units."""
    rows = [
        drift(name, dict(zip(NAMES, map(float, row), strict=True)))
        for name, row in zip(NAMES, A, strict=True)
    ]
    amplitudes = [noise(name, float(size)) for name, size in zip(NAMES, sigma, strict=True)]
    terms = [term for row in rows for term in row]
    return TermModel(terms, amplitudes, scales=[1.0] * 5, time_scale=1.0)


@pytest.fixture(scope="session")
def linear() -> Linear:
    """A stable linear-Gaussian model."""
    return Linear(linear_model(LINEAR_DRIFT, LINEAR_NOISE), LINEAR_DRIFT, LINEAR_NOISE)


@pytest.fixture(scope="session")
def exploding() -> TermModel:
    """The same structure, but T_E grows 4.5 million-fold a month and nothing bounds it."""
    A = LINEAR_DRIFT.copy()
    A[1] = [0.0, 20.0, 0.0, 0.0, 0.0]
    return linear_model(A, LINEAR_NOISE)


@pytest.fixture(scope="session")
def stack() -> Callable[..., TermModel]:
    """Stacks models of one structure into one pytree, for `jax.vmap`."""

    def stacked(*models: TermModel) -> TermModel:
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)

    return stacked


@pytest.fixture
def count_traces() -> Callable:
    """Jits a function and counts how often it is traced: ``jitted, traces = count_traces(f)``."""

    def jit(function: Callable) -> tuple[Callable, list[None]]:
        traces: list[None] = []

        @eqx.filter_jit
        def counted(*arguments):
            traces.append(None)
            return function(*arguments)

        return counted, traces

    return jit


# --- The program ------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch, capsys) -> Callable[..., tuple[int, str, str]]:
    """Runs a command line in this process; gives its exit status, stdout and stderr."""

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["enso-jax", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return command
