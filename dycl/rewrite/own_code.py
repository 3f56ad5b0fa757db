"""Which code is the rewriter's own: native runs do not step into it, and no problem is shown there."""

import os

_PACKAGE = __name__.rpartition(".")[0]
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


def is_own_module(name: str) -> bool:
    """Whether a module of this name is part of the rewriter."""
    return name == _PACKAGE or name.startswith(f"{_PACKAGE}.")


def is_own_file(path: str) -> bool:
    """Whether the file at `path` is part of the rewriter."""
    return os.path.abspath(path).startswith(_FOLDER)
