"""What a program could hang on modules, classes, functions and loggers of libraries: they must stay as they are.

A library keeps much for itself, which may change. So only those attributes of its objects are looked at whose names
the program uses.
"""

import dis
import functools
import logging
import sys
import types
from collections.abc import Collection, Iterable
from typing import Any

from dycl.rewrite.own_thread import is_replaced
from dycl.rewrite.state.heap.guards import Guard, contents_guard
from dycl.rewrite.state.heap.reach import is_library

_MISSING = object()
_CONTAINERS = (dict, list, set)
_OBJECTS = (types.ModuleType, types.FunctionType, type)
# What a logger keeps for itself, and what methods of its set.
_OWN_OF_LOGGERS = frozenset(("handlers", "filters", "_cache", "manager"))
_OF_LOGGERS = ("level", "disabled", "parent", "propagate")


class Libraries:
    """Objects of libraries that the program can reach."""

    def __init__(self, guards: list[Guard], seen: dict[int, Any]) -> None:
        self._guards, self._seen = guards, seen
        self._kept: dict[int, tuple[Any, dict[str, Any]]] = {}
        """Each of them, with what it had under the names that the program stores to."""
        self._stored: dict[str, None] = {}

    def note_stores(self, code: types.CodeType) -> None:
        """Take note of the attributes that a function sets or deletes."""
        for name in _stored_by(code):
            if name not in self._stored:
                self._stored[name] = None
                for owner, before in self._kept.values():
                    before[name] = _attributes(owner).get(name, _MISSING)

    def meet_named(self, owner: Any, name: str, names: Collection[str]) -> None:
        """Take note of what a function names, if it is a class or function of a library."""
        if isinstance(owner, types.FunctionType | type) and is_of_library(owner):
            self.meet(owner, name, names)

    def meet(self, owner: Any, name: str, names: Collection[str], met: set[int] | None = None) -> None:
        """Take note of an object that the program reaches, and of those in it that go by names used there as well."""
        met = {id(owner)} if met is None else met
        own = _attributes(owner)
        if id(owner) not in self._kept:
            before = {stored: own.get(stored, _MISSING) for stored in self._stored}
            self._kept[id(owner)] = (owner, before)
            self._guards.append(_guard(owner, name, before))
        for inner in names:
            value = own.get(inner)
            if type(value) in _CONTAINERS:
                self._keep(value, f"{name}.{inner}")
            elif id(value) not in met and isinstance(value, _OBJECTS) and is_of_library(value):
                met.add(id(value))
                self.meet(value, f"{name}.{inner}", names, met)

    def meet_logger(self, logger: logging.Logger, name: str) -> None:
        """Take note of a logger: what it does with messages is nobody's business, what hangs on it is."""
        if id(logger) in self._kept:
            return
        self.meet(logger, name, ())
        before = self._kept[id(logger)][1]
        before.update((inner, vars(logger).get(inner, _MISSING)) for inner in _OF_LOGGERS)
        for inner, value in vars(logger).items():
            if type(value) in _CONTAINERS and inner not in _OWN_OF_LOGGERS:
                self._keep(value, f"{name}.{inner}")

    def _keep(self, container: Any, name: str) -> None:
        if id(container) not in self._seen and container is not sys.modules:
            self._seen[id(container)] = container
            self._guards.append(contents_guard(container, name))


def is_of_library(value: Any) -> bool:
    """Whether a module, class or function is a library's."""
    return is_library(value.__name__ if isinstance(value, types.ModuleType) else value.__module__)


def _attributes(owner: Any) -> Any:
    return getattr(owner, "__dict__", {})


def _guard(owner: Any, name: str, before: dict[str, Any]) -> Guard:
    """An object of a library keeps what it has under some names; it may learn of modules."""

    def changed_names() -> Iterable[str]:
        own = _attributes(owner)
        for inner, value in before.items():
            now = own.get(inner, _MISSING)
            imported = value is _MISSING and isinstance(now, types.ModuleType)
            if now is not value and not imported and not is_replaced(owner, inner):
                yield inner

    def changed() -> str | None:
        inner = next(iter(changed_names()), None)
        return None if inner is None else f"`{inner}` of `{name}`"

    def restore() -> None:
        for inner in list(changed_names()):
            if before[inner] is _MISSING:
                delattr(owner, inner)
            else:
                setattr(owner, inner, before[inner])

    return Guard(changed, restore)


_STORES = {dis.opmap["STORE_ATTR"], dis.opmap["DELETE_ATTR"]}


@functools.cache
def _stored_by(code: types.CodeType) -> frozenset[str]:
    """The names of the attributes that a function and those inside of it may set or delete."""
    found: set[str] = set()
    bytecode = code.co_code
    for place in range(0, len(bytecode), 2):
        if bytecode[place] in _STORES:
            wide = place and bytecode[place - 2] == dis.EXTENDED_ARG
            found.update(code.co_names if wide else [code.co_names[bytecode[place + 1]]])
    by_text = not {"setattr", "delattr"}.isdisjoint(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _stored_by(constant)
        elif by_text and isinstance(constant, str) and constant.isidentifier():
            found.add(constant)
    return frozenset(found)
