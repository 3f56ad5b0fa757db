"""A class's own `__getattribute__`: DyCL's and Python's own questions go through it, too, so it must only look up."""

import ast
import functools
import inspect
import types

from dycl.rewrite.normalise.source import function_node
from dycl.rewrite.own_code import is_library
from dycl.rewrite.signals import Refused


def require_plain_lookups(cls: type) -> None:
    """Refuse a class whose objects may take note of what they are asked for."""
    way = inspect.getattr_static(cls, "__getattribute__")
    if isinstance(way, types.FunctionType) and not is_library(way.__module__) and not _only_looks_up(way.__code__):
        raise Refused("DY002", f"the `__getattribute__` of class `{cls.__name__}` may do more than look something up")


@functools.cache
def _only_looks_up(code: types.CodeType) -> bool:
    try:
        node = function_node(code)
    except Refused:
        return False
    return all(map(_changes_nothing, ast.walk(node)))


def _changes_nothing(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(ctx=ctx) | ast.Subscript(ctx=ctx):
            return isinstance(ctx, ast.Load)
        case ast.Call(func=ast.Name(id=name)):
            return name in _FUNCTIONS
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _METHODS
        case ast.Call() | ast.Global() | ast.Nonlocal() | ast.Delete() | ast.With() | ast.Await():
            return False
        case ast.Yield() | ast.YieldFrom() | ast.Import() | ast.ImportFrom():
            return False
        case _:
            return True


_FUNCTIONS = frozenset(
    (
        *("super", "type", "isinstance", "issubclass", "getattr", "hasattr", "len", "str", "repr", "vars", "callable"),
        *("AttributeError", "KeyError", "TypeError", "NotImplementedError", "RuntimeError", "ValueError"),
    )
)
_METHODS = frozenset(
    (
        *("__getattribute__", "__getattr__", "get", "keys", "values", "items", "format", "join", "replace"),
        *("startswith", "endswith", "removeprefix", "removesuffix", "lower", "upper", "split", "strip"),
    )
)
