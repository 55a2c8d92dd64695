"""How is a submission imported so that only its own modules see the stand-ins?

They are run by an import of their own: Python looks up names and ``import`` in the builtins of
the module that runs, and a submission's modules are given others.
"""

import contextlib
import importlib
import importlib.util
import itertools
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from enso_jax.submissions.child._own_generators import set_importing
from enso_jax.submissions.child._proxies import BUILTINS, stand_in

_NUMBERS = itertools.count()


@contextlib.contextmanager
def imported(folder: Path) -> Iterator[types.ModuleType]:
    """The module ``model`` of a folder, imported afresh; nothing of it is left behind."""
    submission = _Submission(folder)
    path = list(sys.path)
    set_importing(True)
    try:
        model = submission.module("model")
        set_importing(False)
        yield model
    finally:
        set_importing(False)
        sys.path[:] = path
        submission.forget()


class _Submission:
    """The modules of one folder.

    They are known to Python under names that no other module has, while they are in use:
    `dataclasses`, for one, looks its classes' modules up by name.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._prefix = f"_submission_{next(_NUMBERS)}_"
        self._modules: dict[str, types.ModuleType] = {}
        importing = types.ModuleType("importlib")
        importing.__dict__.update(vars(importlib))
        importing.__dict__["import_module"] = self._import_module
        self._importlib = importing
        self._builtins = {**BUILTINS, "__import__": self._import}

    def module(self, name: str) -> types.ModuleType:
        """A module of the folder, by its dotted name."""
        known = self._modules.get(name)
        if known is not None:
            return known
        path = self._path(name)
        if path is None:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        parent, _, last = name.rpartition(".")
        if parent:
            self.module(parent)
        module = types.ModuleType(self._prefix + name)
        is_package = path.name == "__init__.py"
        module.__file__ = str(path)
        module.__package__ = name if is_package else parent
        module.__dict__["__builtins__"] = self._builtins
        if is_package:
            module.__path__ = [str(path.parent)]
        self._modules[name] = sys.modules[module.__name__] = module
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        exec(code, module.__dict__)
        if parent:
            setattr(self._modules[parent], last, module)
        return module

    def forget(self) -> None:
        """Takes the modules out of Python's list."""
        for module in self._modules.values():
            sys.modules.pop(module.__name__, None)

    def _path(self, name: str) -> Path | None:
        base = self._folder.joinpath(*name.split("."))
        for path in (base / "__init__.py", base.with_name(base.name + ".py")):
            if path.is_file():
                return path
        return None

    def _import_module(self, name: str, package: str | None = None) -> types.ModuleType:
        return self._found(importlib.util.resolve_name(name, package))

    def _found(self, name: str) -> types.ModuleType:
        """A module by its full name: the folder's own, a stand-in or the real one."""
        if name == "importlib":
            return self._importlib
        replaced = stand_in(name)
        if replaced is not None:
            return replaced
        if self._path(name.partition(".")[0]) is not None:
            return self.module(name)
        return importlib.import_module(name)

    def _import(
        self,
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> types.ModuleType:
        """The builtin ``__import__``."""
        if level:
            package = (globals or {}).get("__package__")
            if not package:
                raise ImportError("attempted relative import with no known parent package")
            name = importlib.util.resolve_name("." * level + name, package)
        module = self._found(name)
        if not fromlist:
            return self._found(name.partition(".")[0]) if not level else module
        for item in fromlist:
            if item != "*" and not hasattr(module, item):
                with contextlib.suppress(ModuleNotFoundError):
                    self._found(f"{name}.{item}")
        return module
