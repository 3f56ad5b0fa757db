"""Which code is the rewriter's own, where no problem is shown, and which is a library's."""

import os
import sys

_PACKAGE = __name__.rpartition(".")[0]
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


def is_own_module(name: str) -> bool:
    """Whether a module of this name is part of the rewriter."""
    return name == _PACKAGE or name.startswith(f"{_PACKAGE}.")


def is_own_file(path: str) -> bool:
    """Whether the file at `path` is part of the rewriter."""
    return os.path.abspath(path).startswith(_FOLDER)


def is_library(module: str | None) -> bool:
    """Whether a module is Python's or PyTorch's: what it keeps for itself is not the program's state."""
    name = module or ""
    top = name.partition(".")[0]
    return top in _LIBRARIES or top in sys.stdlib_module_names or is_own_module(name)


_LIBRARIES = frozenset(("torch", "numpy", "sympy"))
