"""Lists of the model that its code adds to and never looks at: records for somebody outside, which a program has not.

A list `self.log` is one if all that the program's functions do with an attribute of its name is to set it, or to call a
method that adds, `self.log.append(...)`, as a statement of its own.
"""

import ast
import types
from collections.abc import Iterable, Iterator

from dycl.rewrite.normalise.source import function_node
from dycl.rewrite.signals import Refused

_ADDING = frozenset(("append", "extend", "insert", "clear"))


def looked_at(codes: Iterable[types.CodeType]) -> frozenset[str]:
    """The names by which these functions do more with an attribute than to add to it."""
    return frozenset(name for code in codes for name in _looked_at(code))


def _looked_at(code: types.CodeType) -> Iterator[str]:
    try:
        tree = function_node(code)
    except Refused:
        # Without its text there is no telling.
        yield from code.co_names
        return
    adding = {id(node.value.func.value) for node in ast.walk(tree) if _adds(node)}  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()) if id(node) not in adding:
                yield name
            case ast.Name(id=name) | ast.Constant(value=str(name)):
                yield name


def _adds(node: ast.AST) -> bool:
    """Whether a statement calls a method that adds to an attribute."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Attribute(), attr=method))):
            return method in _ADDING
        case _:
            return False
