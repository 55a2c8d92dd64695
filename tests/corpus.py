"""A corpus of small submissions, none to be trusted, each with the outcomes it may have.

A case is a folder ``submissions/<kind>/<name>`` that holds `case.toml` and the files in which it
differs from its base. Kinds: ``ordinary`` (models in many styles, all scored), ``broken`` (one
fault each), ``exhausting`` (more time, memory, output than there is), ``hostile`` (after the
observations, the grader or the score). All is bounded, so that a case that is run by accident
outside a sandbox ends by itself and harms nothing. `case.toml` says:

    expected = "invalid"               # or "scored"
    category = ["timeout", "memory"]   # "" if scored; the categories that are right
    allowed = ["scored", "timeout"]    # all outcomes that are right; by default the two above
    engine = "compiled"                # or "host" or "any", for a case that is scored
    scores_like = "ordinary/plain"     # if scored: as this case, to rounding; nothing was gained
    base = "ordinary/plain"            # the case whose files it starts from
    remove = ["MODEL_CARD.md"]         # but for these
    note = "One sentence."

`fault.py` is no file of the submission: its text is appended to the base's `model.py`. What is
awkward to keep in a repository is made when the case is built, from these keys:

    replace = { "params.json" = ["0.01", "NaN"] }   # one passage of a text
    encode = { "model.py" = "latin-1" }             # a text in another encoding
    pad = { "params.json" = 1048577 }               # spaces at the end, up to a size in bytes
    links = { "data" = "/etc" }                     # symbolic links and their targets
    sparse = { "weights.bin" = 4294967296 }         # a file of this size without content
    pipes = ["data.csv"]                            # named pipes
    folders = ["model.py"]                          # folders
    deep_model = 100000                             # an expression of so many signs in model.py
    nested_params = 100000                          # params.json as so many nested lists
"""

import dataclasses
import functools
import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from enso_jax.submissions import CATEGORIES as CATEGORIES

ROOT: Final = Path(__file__).parent / "submissions"
KINDS: Final = ("ordinary", "broken", "exhausting", "hostile")
ENGINES: Final = ("compiled", "host", "any")
#: Keys of case.toml that say how the folder is made, and those that say what is expected.
RECIPE: Final = {
    *("base", "remove", "replace", "encode", "pad", "links", "sparse", "pipes", "folders"),
    *("deep_model", "nested_params"),
}
EXPECTATION: Final = {"expected", "category", "allowed", "engine", "scores_like", "note"}


@dataclasses.dataclass(frozen=True)
class Case:
    """One submission and what is expected of it.

    Attributes:
        name: kind and name, ``broken/wrong_shape``.
        expected: the likeliest outcome, ``scored`` or ``invalid``.
        categories: the categories that are right if it is invalid.
        allowed: every right outcome: ``scored``, or a category.
        engine: that grades it if it is scored; ``any`` leaves it open.
        scores_like: the case whose scores it must then have, to rounding, or None.
        note: what it is, in a sentence.
        recipe: the keys of case.toml that say how its folder is made.
    """

    name: str
    expected: str
    categories: tuple[str, ...]
    allowed: frozenset[str]
    engine: str
    scores_like: str | None
    note: str
    recipe: Mapping[str, Any]

    @property
    def kind(self) -> str:
        return self.name.split("/")[0]

    @property
    def folder(self) -> Path:
        """Where the case is kept; `build` makes the submission."""
        return ROOT / self.name

    @property
    def form(self) -> str:
        """The form its author meant: ``jax`` or ``numpy``."""
        base = self.recipe.get("base", "")
        return "jax" if "/jax_" in self.name or "/jax_" in base else "numpy"

    def __str__(self) -> str:
        return self.name


@functools.cache
def _all() -> Mapping[str, Case]:
    found = (_read(path) for path in sorted(ROOT.glob("*/*/case.toml")))
    return {case.name: case for case in found}


def cases(*kinds: str) -> list[Case]:
    """Every case, or those of some kinds."""
    return [case for case in _all().values() if not kinds or case.kind in kinds]


def case(name: str) -> Case:
    """One case by name, ``ordinary/plain``."""
    return _all()[name]


def _read(path: Path) -> Case:
    name = path.parent.relative_to(ROOT).as_posix()
    keys = tomllib.loads(path.read_text(encoding="utf-8"))
    unknown = keys.keys() - RECIPE - EXPECTATION
    assert not unknown, f"{name} has unknown keys: {sorted(unknown)}"
    category = keys["category"]
    categories = (category,) if isinstance(category, str) else tuple(category)
    categories = tuple(filter(None, categories))
    return Case(
        name=name,
        expected=keys["expected"],
        categories=categories,
        allowed=frozenset(keys.get("allowed", categories or ("scored",))),
        engine=keys["engine"],
        scores_like=keys.get("scores_like"),
        note=keys["note"],
        recipe={key: value for key, value in keys.items() if key in RECIPE},
    )


# --- Building -----------------------------------------------------------------------------


def build(case: Case, folder: Path) -> Path:
    """Makes the submission of `case` in `folder`, in a new folder of the case's name.

    Returns:
        The new folder, to be graded. A sparse file has a size but takes no room.
    """
    target = folder / case.name.replace("/", "-")
    target.mkdir(parents=True)
    _fill(case, target)
    return target


def _fill(case: Case, target: Path) -> None:
    recipe = case.recipe
    if "base" in recipe:
        _fill(_all()[recipe["base"]], target)
    for name in recipe.get("remove", ()):
        (target / name).unlink()
    _copy(case, target)
    for name, (old, new) in recipe.get("replace", {}).items():
        text = (target / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{case}: {old!r} is not once in {name}"
        (target / name).write_text(text.replace(old, new), encoding="utf-8")
    if "nested_params" in recipe:
        depth = recipe["nested_params"]
        (target / "params.json").write_text("[" * depth + "]" * depth)
    if "deep_model" in recipe:
        with (target / "model.py").open("a") as model:
            model.write(f"\nDEPTH = {'-' * recipe['deep_model']}1\n")
    for name, encoding in recipe.get("encode", {}).items():
        text = (target / name).read_text(encoding="utf-8")
        (target / name).write_bytes(text.encode(encoding))
    for name, size in recipe.get("pad", {}).items():
        content = (target / name).read_bytes()
        (target / name).write_bytes(content.ljust(size))
    for name, size in recipe.get("sparse", {}).items():
        with (target / name).open("wb") as file:
            file.truncate(size)
    for name, goal in recipe.get("links", {}).items():
        (target / name).symlink_to(goal)
    for name in recipe.get("pipes", ()):
        os.mkfifo(target / name)
    for name in recipe.get("folders", ()):
        (target / name).mkdir()


def _copy(case: Case, target: Path) -> None:
    """The files that lie in the case's own folder; `fault.py` goes to the end of `model.py`."""
    for source in sorted(case.folder.rglob("*")):
        name = source.relative_to(case.folder)
        if not source.is_file() or name.name == "case.toml" or "__pycache__" in name.parts:
            continue
        if name == Path("fault.py"):
            with (target / "model.py").open("a", encoding="utf-8") as model:
                model.write("\n\n" + source.read_text(encoding="utf-8"))
        else:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target / name)
