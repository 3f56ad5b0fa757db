"""Lists of the model that its code adds to and never looks at: records for somebody outside, which a program has not.

A list `self.log` is one if all that the program's functions do with an attribute of its name is to set it, or to call a
method that adds, `self.log.append(...)`, as a statement of its own.
"""

import ast
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dycl.rewrite.normalise.source import function_node
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.heap.watched import Watched

_ADDING = frozenset(("append", "extend", "insert", "clear"))
_WHOLES = frozenset(("__dict__", "vars", "copy", "deepcopy", "__getstate__", "__reduce__", "__reduce_ex__", "asdict"))
"""By these a program gets at attributes without naming them."""


class UnreadLists:
    """The lists that are attributes of modules, and what is known of who looks at them."""

    def __init__(self, names_one_of: Callable[[frozenset[str]], bool]) -> None:
        self.names: dict[str, None] = {}
        """The names of those that were found to be only added to."""
        self.codes: dict[types.CodeType, None] = {}
        """All functions that the program can call."""
        self.met_again: set[int] = set()
        """What hangs at more than one place."""
        self._names_one_of = names_one_of
        self._attributes: dict[int, str] = {}
        self._looked_at: tuple[int, frozenset[str]] = (0, frozenset())

    def add(self, items: list[Any], name: str) -> None:
        """Take note of a list that is an attribute of a module."""
        if id(items) in self._attributes:
            self.met_again.add(id(items))
        self._attributes[id(items)] = name

    def has(self, watched: Watched) -> bool:
        """Whether this is a list that the program adds to and never looks at."""
        name = self._attributes.get(id(watched.container))
        if name is None or id(watched.container) in self.met_again:
            return False
        if self._looked_at[0] != len(self.codes):
            self._looked_at = (len(self.codes), _looked_at_by(self.codes))
        # A private name is another one in the function's text.
        unread = "__" not in name and name not in self._looked_at[1] and not self._names_one_of(_WHOLES)
        if unread:
            self.names[watched.name] = None
        return unread


def _looked_at_by(codes: Iterable[types.CodeType]) -> frozenset[str]:
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
