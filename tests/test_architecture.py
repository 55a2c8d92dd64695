"""Do imports run one way, and does each part keep to its own business?"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import enso_jax

ROOT = Path(enso_jax.__file__).parent

#: From the ground up. A part imports itself and what lies below it, never its neighbours.
LAYERS = (
    {"state", "files", "jaxprs", "own_process", "wording"},
    {"protocol"},
    {"events"},
    {"models"},
    {"stepping"},
    {"observations"},
    {"experiments", "scores", "submissions"},
    {"fitting", "grading", "written"},
    {"checkpoints"},
    {"simplify"},
    {"benchmark", "figures", "leaderboard", "tables"},
    {"cli"},
    {"__main__"},
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}

MODULES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
every_module = pytest.mark.parametrize("module", MODULES, ids=str)


def part_of(module: Path) -> str:
    """The part of the house in which a module lives: ``scores``, ``state``, ..."""
    return module.parts[0].removesuffix(".py")


def in_part(*parts: str) -> pytest.MarkDecorator:
    """The modules of some parts, as parameters."""
    chosen = [module for module in MODULES if part_of(module) in parts]
    return pytest.mark.parametrize("module", chosen, ids=str)


def tree(module: Path) -> ast.Module:
    return ast.parse((ROOT / module).read_text())


def imports(module: Path) -> Iterator[str]:
    """The full names of all that a module imports, wherever in it: ``enso_jax.state``, ``os``."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            if node.module == "enso_jax":  # from enso_jax import state
                yield from (f"enso_jax.{alias.name}" for alias in node.names)
            else:
                yield str(node.module)


def parts_imported(module: Path) -> set[str]:
    names = (name.split(".") for name in imports(module))
    return {name[1] for name in names if name[0] == "enso_jax" and len(name) > 1} - {"__version__"}


def calls(module: Path) -> set[str]:
    """The names of all functions and methods that a module calls, without what precedes the dot."""
    functions = (node.func for node in ast.walk(tree(module)) if isinstance(node, ast.Call))
    return {
        function.id if isinstance(function, ast.Name) else function.attr
        for function in functions
        if isinstance(function, ast.Name | ast.Attribute)
    }


def attributes(module: Path) -> set[str]:
    """All that is read by a dotted name, ``sys.stdout``."""
    return {ast.unparse(node) for node in ast.walk(tree(module)) if isinstance(node, ast.Attribute)}


@every_module
def test_every_module_is_in_a_known_part(module):
    assert part_of(module) in LEVEL or module == Path("__init__.py")


@every_module
def test_imports_run_downwards(module):
    part = part_of(module)
    below = {other for other in LEVEL if part in LEVEL and LEVEL[other] < LEVEL[part]}

    assert parts_imported(module) - {part} <= below


@in_part("experiments")
def test_experiments_know_no_record_and_open_no_file(module):
    assert "observations" not in parts_imported(module)
    roots = {name.split(".")[0] for name in imports(module)}
    assert not roots & {"os", "io", "pathlib", "csv", "json", "shutil", "tempfile", "xarray"}
    files = {"open", "read_text", "write_text", "read_bytes", "write_bytes", "load", "savetxt"}
    assert not calls(module) & (files | {"loadtxt", "genfromtxt", "fromfile", "tofile", "savez"})


@in_part("scores")
def test_scores_see_no_model_and_open_no_file(module):
    assert not parts_imported(module) & {"models", "experiments", "submissions"}
    roots = {name.split(".")[0] for name in imports(module)}
    assert not roots & {"jax", "equinox", "os", "io", "pathlib", "csv", "json", "xarray"}
    assert "open" not in calls(module)


@in_part("__init__", *(LEVEL.keys() - {"cli", "__main__"}))
def test_only_the_commands_print(module):
    assert not calls(module) & {"print", "echo", "secho"}
    assert not attributes(module) & {"sys.stdout", "sys.stderr"}
    assert not {"typer", "rich.console", "rich.progress", "rich.live"} & set(imports(module))


@every_module
def test_no_module_is_named_after_nothing(module):
    for part in module.with_suffix("").parts:
        words = set(part.strip("_").split("_"))
        assert not words & {"utils", "util", "helpers", "helper", "manager", "managers", "misc"}


def test_the_rules_are_held_against_every_part_of_the_house():
    """A rule over no module would hold in vain."""
    assert {"state", "protocol", "models", "observations", "experiments", "scores"} <= {
        part_of(module) for module in MODULES
    }
