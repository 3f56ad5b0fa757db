"""Test modules of Python's, changed a little: their cases are of our own class, and statements may be decisions."""

import ast
import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

Mode = Literal["behind", "before"]
"""One decision behind each test, or one before every statement as well."""
MODES: tuple[Mode, ...] = ("behind", "before")

# Modules of cases that others inherit from.
_SHARED = frozenset(("list_tests", "seq_tests", "mapping_tests", "string_tests"))
_HEAD = "from tests.python_semantics.case import Case\nfrom tests.python_semantics.model import decide\n"


def module_name(name: str, mode: Mode) -> str:
    """What the changed module goes by."""
    return f"{mode}_{name}"


def write(name: str, mode: Mode, folder: Path) -> list[Path]:
    """The changed module as a file in `folder`, with those that it needs; nothing if this Python has none."""
    spec = importlib.util.find_spec(f"test.{name}")
    if spec is None or spec.origin is None:
        return []
    path = folder / f"{module_name(name, mode)}.py"
    if path.exists():
        return [path]
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    change = _Change(mode)
    tree.body = [part for item in tree.body for part in _parts(change.visit(item))]
    place = _first_place(tree.body)
    tree.body[place:place] = ast.parse(_HEAD).body
    path.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n", encoding="utf-8")
    return [path, *(other for needed in sorted(change.needed) for other in write(needed, mode, folder))]


def _first_place(body: list[ast.stmt]) -> int:
    """Where a module's first statement stands that is neither its text nor of the future."""
    for number, item in enumerate(body):
        is_text = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
        if not is_text and not (isinstance(item, ast.ImportFrom) and item.module == "__future__"):
            return number
    return len(body)


def _parts(changed: ast.AST | list[ast.stmt] | None) -> Iterable[ast.stmt]:
    if isinstance(changed, list):
        return changed
    return [changed] if isinstance(changed, ast.stmt) else []


class _Change(ast.NodeTransformer):
    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self.needed: set[str] = set()
        self.in_function = False

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "unittest" and node.attr == "TestCase":
            return ast.copy_location(ast.Name("Case", node.ctx), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A second copy of a module written in C would be unlike the one that programs use: this one is taken."""
        self.generic_visit(node)
        given = {keyword.arg for keyword in node.keywords}
        is_fresh = ast.unparse(node.func).rpartition(".")[2] == "import_fresh_module" and given == {"fresh"}
        return ast.Call(ast.Name("__import__", ast.Load()), node.args, []) if is_fresh else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        changed: list[ast.stmt] = []
        last = (node.module or "").rpartition(".")[2]
        if last in _SHARED:
            self.needed.add(last)
            return [ast.ImportFrom(module_name(last, self.mode), node.names, 0)]
        rest = []
        for alias in node.names:
            if node.module == "test" and alias.name in _SHARED:
                self.needed.add(alias.name)
                changed.append(ast.Import([ast.alias(module_name(alias.name, self.mode), alias.asname or alias.name)]))
            elif node.module == "unittest" and alias.name == "TestCase":
                changed.extend(ast.parse(f"{alias.asname or 'TestCase'} = Case").body)
            else:
                rest.append(alias)
        kept: list[ast.stmt] = [ast.ImportFrom(node.module, rest, node.level)] if rest else []
        return kept + changed

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        around, self.in_function = self.in_function, True
        self.generic_visit(node)
        self.in_function = around
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        around, self.in_function = self.in_function, False
        self.generic_visit(node)
        self.in_function = around
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if self.mode == "before" and self.in_function:
            for field in ("body", "orelse", "finalbody"):
                statements = getattr(node, field, None)
                if isinstance(statements, list):
                    setattr(node, field, _with_decisions(statements, isinstance(node, ast.FunctionDef)))
        return node


def _with_decisions(statements: list[ast.stmt], is_function: bool) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for number, item in enumerate(statements):
        is_text = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
        if not isinstance(item, ast.Nonlocal | ast.Global) and not (is_text and is_function and number == 0):
            found.append(ast.copy_location(ast.parse("decide()").body[0], item))
        found.append(item)
    return found
