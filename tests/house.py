"""The source as data: which module imports which, and how large folders and modules are."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Import:
    """A module imports another one, at its top, inside a function or for its annotations alone."""

    module: str
    imported: str


def modules(package: str) -> dict[str, Path]:
    """Every module of a package by its name."""
    found = sorted((ROOT / package.replace(".", "/")).rglob("*.py"))
    return {_name(path): path for path in found}


def imports(package: str) -> list[Import]:
    """Every import between two modules of a package."""
    known = modules(package)
    return [
        Import(module, imported)
        for module, path in known.items()
        for imported in _imported(path, known)
        if imported != module
    ]


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in known else node.module for name in inside if node.module in known)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
