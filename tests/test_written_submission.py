"""Does a model that was written out as a submission step as the model did?"""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from as_written import over_members

from enso_jax.files import OutputError
from enso_jax.models import BUILT_IN, Ramp, Sigmoid, Step, TermModel, built_in, drift, noise
from enso_jax.protocol import Protocol
from enso_jax.state import NAMES, VARIABLES
from enso_jax.submissions import (
    REQUIRED_FILES,
    Examination,
    Patience,
    ProgramStep,
    choose,
    examine,
    read_folder,
)
from enso_jax.written import ModelFileError, term_model_from_json, write_submission

DT = Protocol().dt
MEMBERS = 40
SCALES = np.array([variable.scale for variable in VARIABLES])
TIMES = (0.0, 4.9, 11.99, 27_599.5)


def rich() -> TermModel:
    """One model with every feature and factor that there is, and two equations hardly any."""
    terms = (
        *drift(
            "T_C",
            {
                "T_C": {"1": -0.3, "c1": 0.1, "s3": -0.2},
                "h_W": {"c2": 0.1},
                "T_C^2 [T_C > 0]": {"1": -0.7, "s1": 0.1},
                "tau [tau > 0]": 0.1,
                "T_C h_W^2 u": -0.4,
                "1": {"1": 0.004, "c3": 0.01},
            },
        ),
        *drift("T_E", {"T_E^2/(1 + (T_E/0.35)^2)": {"1": 0.5, "s2": -0.6}, "T_E^3": -1.0}),
        *drift("tau", {"1": 0.1}),
    )
    amplitudes = (
        noise("T_C", 0.03, factors=(Ramp("T_C", 1, -2.0, 0.2), Ramp("T_C", 2, -30.0, 0.2))),
        noise("T_E", 0.04, {"c1": -0.6, "s3": 0.4}, (Ramp("T_E", 3, 5.5, 0.2, 1.1),)),
        noise("h_W", 0.02),
        noise("u", 0.09, {"1": 0.8, "c2": 0.1}),
        noise("tau", 0.45, factors=(Sigmoid("T_C", 7.5), Sigmoid("u", -0.5))),
    )
    mixing = np.tril(np.full((5, 5), -0.3)) + 1.2 * np.eye(5)
    mixing /= np.linalg.norm(mixing, axis=1, keepdims=True)
    return TermModel(
        terms, amplitudes, phase=1.3, bound=0.55, scales=1.1 * SCALES, time_scale=1.7, mixing=mixing
    )


MODELS = {name: model.build for name, model in BUILT_IN.items()} | {"rich": rich}


def write(model: TermModel, folder: Path) -> Path:
    write_submission(model, folder, title="A reduced model", provenance="From a test.")
    return folder


def ensemble() -> tuple[np.ndarray, np.ndarray]:
    """States ``(member, 5)``, of which some are beyond the bound, and noise."""
    rng = np.random.default_rng(5)
    states = 0.25 * rng.standard_normal((MEMBERS, 5)) * SCALES
    states[:3] *= 8.0
    return states, rng.standard_normal((MEMBERS, 5))


@eqx.filter_jit
def all_members(step: Step, states: jax.Array, t: jax.Array, normals: jax.Array) -> jax.Array:
    return over_members(step)(states, t, jnp.asarray(DT), normals)


def stepped(step: Step, states: np.ndarray, t: float, normals: np.ndarray) -> np.ndarray:
    return np.asarray(
        all_members(step, jnp.asarray(states.T), jnp.asarray(t), jnp.asarray(normals.T))
    ).T


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    """To 1e-12; of a state near zero, to 1e-13 of the variable's scale.

    After 2300 years the seasons' angle is 14,000, and has only so many digits.
    """
    np.testing.assert_allclose(found / SCALES, expected / SCALES, rtol=1e-12, atol=1e-13)


class Recorded:
    """A generator whose normals are known; each is given once."""

    def __init__(self, normals: np.ndarray) -> None:
        self.left = [normals]

    def standard_normal(self, shape: tuple[int, ...]) -> np.ndarray:
        normals = self.left.pop()
        assert normals.shape == shape
        return normals


def imported(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("written_model", folder / "model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- The same numbers ---------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_a_written_model_steps_as_the_model_does(name, tmp_path):
    model = MODELS[name]()
    written = imported(write(model, tmp_path / "written"))
    states, normals = ensemble()

    for t in TIMES:
        expected = stepped(model, states, t, normals)
        rng = Recorded(normals)
        found = written.step(states.copy(), t, DT, rng)
        assert_same(found, expected)
        assert rng.left == []


def test_an_ensemble_of_one_is_stepped_as_in_a_larger_one(tmp_path):
    written = imported(write(rich(), tmp_path / "written"))
    states, normals = ensemble()

    together = written.step(states, 3.0, DT, Recorded(normals))
    alone = written.step(states[7:8], 3.0, DT, Recorded(normals[7:8]))

    np.testing.assert_allclose(alone, together[7:8], rtol=1e-14)


def test_a_model_without_terms_is_written_too(tmp_path):
    quiet = TermModel([], [noise(name, 0.0) for name in NAMES])
    written = imported(write(quiet, tmp_path / "written"))
    states, normals = ensemble()

    found = written.step(states, 0.0, DT, Recorded(normals))

    np.testing.assert_allclose(found, states, rtol=1e-15)


def test_a_formula_that_was_edited_to_none_is_named(tmp_path):
    folder = write(rich(), tmp_path / "written")
    params = folder / "params.json"
    params.write_text(params.read_text().replace('"T_C h_W^2 u"', '"T_C salinity"'))

    with pytest.raises(ValueError, match="'salinity' of 'T_C salinity' in params"):
        imported(folder)


# --- In the sandbox -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def examined(tmp_path_factory) -> Examination:
    """The richest model, loaded, checked and traced in a sandbox."""
    folder = write(rich(), tmp_path_factory.mktemp("rich") / "written")
    return examine(read_folder(folder), DT, choose(), Patience())


def test_a_written_model_is_compiled(examined):
    assert examined.program is not None, examined.reason
    assert (examined.form, examined.noise_size) == ("numpy", 5)


@pytest.mark.parametrize("t", TIMES)
def test_its_program_steps_as_the_model_does(examined, t):
    states, normals = ensemble()

    found = stepped(ProgramStep(examined.program, DT), states, t, normals)

    expected = stepped(rich(), states, t, normals)
    assert_same(found, expected)


# --- The folder ---------------------------------------------------------------------------


def test_a_written_folder_is_a_whole_submission(tmp_path):
    folder = write(rich(), tmp_path / "new" / "written")

    assert sorted(path.name for path in folder.iterdir()) == sorted(REQUIRED_FILES)
    assert read_folder(folder).months_at_1_january == 0.0
    read = term_model_from_json((folder / "params.json").read_text())
    assert eqx.tree_equal(read, rich())
    json.loads((folder / "params.json").read_text())


def test_the_card_says_what_the_model_is_and_where_it_is_from(tmp_path):
    model = built_in("fable-5.1").build()
    write_submission(model, tmp_path / "a", title="Two\nlines {x}", provenance="The paper.")
    card = (tmp_path / "a" / "MODEL_CARD.md").read_text()

    assert card.startswith("# Two lines {x}\n\nThe paper.\n")
    assert all(f"\n    {equation}\n" in card for equation in model.equations())
    assert model.conventions() in card
    assert "independent" in card
    assert "within plus and minus 3." in card


def test_the_card_says_that_noises_are_correlated_and_nothing_bounds(tmp_path):
    model = eqx.tree_at(lambda m: m.bound, rich(), jnp.asarray(jnp.inf))
    card = (write(model, tmp_path / "a") / "MODEL_CARD.md").read_text()

    assert "correlated" in card
    assert "Nothing bounds the state." in card


@pytest.mark.parametrize("name", ["model.py", "notes.txt"])
def test_nothing_is_overwritten(tmp_path, name):
    (tmp_path / name).write_text("mine")

    with pytest.raises(OutputError, match="is not an empty folder"):
        write(rich(), tmp_path)

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "mine"}


def test_a_file_in_the_place_of_the_folder_stays(tmp_path):
    (tmp_path / "written").write_text("mine")

    with pytest.raises(OutputError, match="is not an empty folder"):
        write(rich(), tmp_path / "written")

    assert (tmp_path / "written").read_text() == "mine"


def test_a_model_that_cannot_be_written_leaves_no_folder(tmp_path):
    broken = jax.tree.map(lambda leaf: leaf * jnp.nan, rich())

    with pytest.raises(ModelFileError):
        write(broken, tmp_path / "written")

    assert list(tmp_path.iterdir()) == []
