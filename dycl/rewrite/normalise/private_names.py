"""Private names: inside a class Python reads `__name` as `_Class__name`, but not as the name of an argument given."""

import ast
import itertools


def mangled(name: str, cls: str | None) -> str:
    """What a name means inside the class `cls`, or outside of any."""
    owner = (cls or "").lstrip("_")
    if not owner or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    return f"_{owner}{name}"


def class_around(qualname: str) -> str | None:
    """The innermost class around the function of this qualified name."""
    parts = qualname.split(".")
    classes = [part for part, following in itertools.pairwise(parts) if _is_class(part, following)]
    return classes[-1] if classes else None


def _is_class(part: str, following: str) -> bool:
    return "<locals>" not in (part, following)


class PrivateNames(ast.NodeVisitor):
    """Writes a file's private names as what they mean; functions keep the names that their code goes by."""

    def __init__(self) -> None:
        self._class: str | None = None

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outside)
        around, self._class = self._class, node.name
        for inside in (*getattr(node, "type_params", ()), *node.body):
            self.visit(inside)
        self._class = around

    def visit_Name(self, node: ast.Name) -> None:
        node.id = mangled(node.id, self._class)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        node.attr = mangled(node.attr, self._class)
        self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        node.arg = mangled(node.arg, self._class)

    def visit_alias(self, node: ast.alias) -> None:
        bound = node.asname or node.name
        if mangled(bound, self._class) != bound:
            node.asname = mangled(bound, self._class)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._name_of(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._name_of(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._name_of(node)

    def _name_of(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            node.name = mangled(node.name, self._class)
        self.generic_visit(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            node.rest = mangled(node.rest, self._class)
        self.generic_visit(node)
