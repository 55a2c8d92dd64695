"""Is the corpus of submissions what it says it is, before anything is graded with it?"""

import importlib.util
import inspect
import json
import os
import stat
import sys
import tomllib
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from corpus import CATEGORIES, ENGINES, KINDS, ROOT, Case, build, cases
from corpus import case as by_name

CASES = cases()
ORDINARY = cases("ordinary")
#: Standard deviations that the plain model was given, degC, degC, m, m/s, m/s.
SPREAD = np.array([0.6, 0.9, 13.0, 0.13, 2.7])

every_case = pytest.mark.parametrize("case", CASES, ids=str)


def in_form(form: str) -> pytest.MarkDecorator:
    chosen = [case for case in ORDINARY if case.form == form]
    return pytest.mark.parametrize("case", chosen, ids=str)


# --- What is expected -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "least"), [("ordinary", 24), ("broken", 25), ("exhausting", 8), ("hostile", 14)]
)
def test_corpus_is_large_enough(kind: str, least: int) -> None:
    assert len(cases(kind)) >= least


def test_every_folder_is_a_case_and_names_are_unique() -> None:
    folders = {path for kind in ROOT.iterdir() for path in kind.iterdir()}
    assert folders == {case.folder for case in CASES}
    assert {path.parent.name for path in folders} == set(KINDS)
    names = [case.name.split("/")[1] for case in CASES]
    assert len(set(names)) == len(names)


@every_case
def test_expectation_is_complete(case: Case) -> None:
    assert case.expected in ("scored", "invalid")
    assert case.engine in ENGINES
    assert set(case.categories) <= set(CATEGORIES)
    assert case.allowed <= {"scored", *CATEGORIES}
    assert case.note.endswith(".")
    if case.expected == "scored":
        assert not case.categories
        assert "scored" in case.allowed
    else:
        assert case.categories
        assert set(case.categories) <= case.allowed
        assert case.engine == "any"
    if case.scores_like is not None:
        assert "scored" in case.allowed
        assert by_name(case.scores_like).kind == "ordinary"


def test_every_category_is_met() -> None:
    assert {category for case in CASES for category in case.categories} == set(CATEGORIES)


def test_ordinary_cases_are_scored_and_most_compile() -> None:
    assert all(case.allowed == {"scored"} for case in ORDINARY)
    numpy_form = [case for case in ORDINARY if case.form == "numpy"]
    assert np.mean([case.engine == "compiled" for case in numpy_form]) > 0.6
    assert sum(case.form == "jax" for case in ORDINARY) >= 5


# --- Every case builds ----------------------------------------------------------------------


@every_case
def test_builds(case: Case, tmp_path: Path) -> None:
    folder = build(case, tmp_path)
    assert folder.parent == tmp_path
    assert not (folder / "case.toml").exists()
    assert not (folder / "fault.py").exists()
    required = {"model.py", "params.json", "MODEL_CARD.md"}
    missing = {name for name in required if not (folder / name).exists()}
    assert missing <= set(case.recipe.get("remove", ()))
    if case.categories and case.categories[0] in ("missing_file", "not_python", "bad_params"):
        return
    if "deep_model" not in case.recipe and "model.py" not in missing:
        source = (folder / "model.py").read_text(encoding="utf-8")
        compile(source, case.name, "exec", dont_inherit=True)
    if not (folder / "params.json").is_symlink():
        json.loads((folder / "params.json").read_text(encoding="utf-8"))


def test_awkward_files_are_made(tmp_path: Path) -> None:
    def built(name: str) -> Path:
        return build(by_name(name), tmp_path)

    assert (built("ordinary/params_of_one_mib") / "params.json").stat().st_size == 2**20
    assert (built("broken/params_above_one_mib") / "params.json").stat().st_size == 2**20 + 1
    assert (built("broken/link_leads_out") / "data").readlink() == Path("/etc")
    assert stat.S_ISFIFO((built("broken/pipe_beside_model") / "data.csv").stat().st_mode)
    large = (built("broken/enormous_file") / "weights.bin").stat()
    assert large.st_size == 2**32
    assert large.st_blocks * 512 < 2**20
    with pytest.raises(UnicodeDecodeError):
        (built("broken/not_utf8") / "model.py").read_text(encoding="utf-8")
    assert "NaN" in (built("broken/params_nan") / "params.json").read_text()
    assert b"\0" in (built("broken/null_bytes") / "model.py").read_bytes()
    assert not list(built("broken/empty_folder").iterdir())
    toml = (built("ordinary/calendar_mid_month") / "submission.toml").read_text()
    assert tomllib.loads(toml) == {"calendar": {"months_at_1_january": 0.5}}


# --- The ordinary ones are good models ------------------------------------------------------


@contextmanager
def imported(folder: Path) -> Iterator[types.ModuleType]:
    """The module model.py of a folder, in this process; only for ordinary cases."""
    before, working, path = set(sys.modules), Path.cwd(), list(sys.path)
    x64 = jax.config.read("jax_enable_x64")
    specification = importlib.util.spec_from_file_location("model", folder / "model.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(folder))
    os.chdir(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sys.modules["model"] = module
            specification.loader.exec_module(module)
            yield module
    finally:
        os.chdir(working)
        sys.path[:] = path
        jax.config.update("jax_enable_x64", x64)
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]


def assert_climate(run: np.ndarray) -> None:
    """Is a run ``(month, member, variable)`` finite, stable and of the right magnitude?"""
    assert np.isfinite(run).all()
    assert (np.abs(run) < 10 * SPREAD).all()
    ratio = run[24:].std(axis=(0, 1)) / SPREAD
    assert (ratio > 0.5).all(), ratio
    assert (ratio < 1.8).all(), ratio


def checked(result: Any, members: int) -> np.ndarray:
    """`result` as an array, if it is what the contract allows."""
    assert type(result) in (np.ndarray, list)
    if isinstance(result, list):
        assert all(type(value) is float for row in result for value in row)
    array = np.asarray(result)
    assert array.dtype in (np.float32, np.float64)
    assert array.shape == (members, 5)
    return array.astype(float)


@in_form("numpy")
def test_numpy_model_is_stable(case: Case, tmp_path: Path) -> None:
    years, steps_per_month, members = 30, 10, 3
    with imported(build(case, tmp_path)) as module:
        assert [*inspect.signature(module.step).parameters][3] == "rng"
        rng = np.random.default_rng(20)
        state, run = np.zeros((members, 5)), []
        for month in range(12 * years):
            for k in range(steps_per_month):
                t = month + k / steps_per_month
                state = checked(module.step(state.copy(), t, 1 / steps_per_month, rng), members)
            run.append(state)
        assert_climate(np.array(run))
        # Anywhere in the contract: any N, dt from 1/30 to 1, late t, states beyond the observed.
        for members in (1, 2, 120):
            for t, dt in ((0.0, 1 / 30), (27_599.0, 1.0), (2_345.6, 0.37)):
                far = 4 * SPREAD * rng.standard_normal((members, 5)).clip(-1, 1)
                assert np.isfinite(checked(module.step(far, t, dt, rng), members)).all()


def as_arrays(value: Any) -> Any:
    """params.json as the JAX form gets it: numbers and nested lists of numbers are arrays."""
    if isinstance(value, dict):
        return {key: as_arrays(item) for key, item in value.items()}
    if isinstance(value, bool | str) or value is None:
        return value
    try:
        return jnp.asarray(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        return [as_arrays(item) for item in value]


def jax_run(step: Callable[..., jax.Array], params: Any, months: int, members: int) -> np.ndarray:
    """States ``(month, member, variable)`` of a run from rest with ten steps a month."""
    arrays, rest = jax.tree.flatten(params)
    numbers = [leaf for leaf in arrays if isinstance(leaf, jax.Array)]

    def one(state: jax.Array, t: jax.Array, key: jax.Array, numbers: list[jax.Array]) -> jax.Array:
        left = iter(numbers)
        leaves = [next(left) if isinstance(leaf, jax.Array) else leaf for leaf in arrays]
        new = step(state, t, 0.1, key, jax.tree.unflatten(rest, leaves))
        assert new.shape == (5,)
        assert new.dtype in (jnp.float32, jnp.float64)
        return new.astype(jnp.float64)

    @jax.jit
    def run(numbers: list[jax.Array]) -> jax.Array:
        def body(state: jax.Array, k: jax.Array) -> tuple[jax.Array, jax.Array]:
            keys = jax.random.split(jax.random.fold_in(jax.random.key(3), k), members)
            new = jax.vmap(one, in_axes=(0, None, 0, None))(state, k / 10.0, keys, numbers)
            return new, new

        return jax.lax.scan(body, jnp.zeros((members, 5)), jnp.arange(10 * months))[1]

    return np.asarray(run(numbers))[9::10]


@in_form("jax")
def test_jax_model_is_stable(case: Case, tmp_path: Path) -> None:
    folder = build(case, tmp_path)
    params = as_arrays(json.loads((folder / "params.json").read_text()))
    with (
        imported(folder) as module,
        jax.numpy_rank_promotion("allow"),
        jax.numpy_dtype_promotion("standard"),
    ):
        names = [*inspect.signature(module.step).parameters]
        assert names[3:5] == ["key", "params"]
        assert_climate(jax_run(module.step, params, months=360, members=3))
