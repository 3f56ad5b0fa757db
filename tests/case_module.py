"""A program written in a case file or on a page of the documentation, as a module of its own."""

import importlib.util
import linecache
import sys
from pathlib import Path
from types import ModuleType

import pytest


def import_program(program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program's module, from a file `model.py` in `folder` as a user would have it."""
    monkeypatch.syspath_prepend(str(folder))
    path = folder / "model.py"
    path.write_text(program, encoding="utf-8")
    linecache.checkcache()
    spec = importlib.util.spec_from_file_location("model", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "model", module)
    spec.loader.exec_module(module)
    return module
