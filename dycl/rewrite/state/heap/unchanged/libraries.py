"""What a program could hang on modules, classes, functions, loggers and threads of libraries: they must stay the same.

A library keeps much for itself, which may change. So only those attributes of its objects are looked at whose names
the program uses.
"""

import abc
import logging
import operator
import sys
import threading
import types
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
import torch

from dycl.rewrite.own_code import is_library
from dycl.rewrite.own_thread import is_replaced
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.state.heap.reach import NAMESPACES, PLAINEST
from dycl.rewrite.state.heap.unchanged.guards import Guard, namespace_guard
from dycl.rewrite.state.heap.unchanged.object_guards import abstract_guard, contents_guard
from dycl.rewrite.state.heap.unchanged.stores import stored_by

_MISSING = object()
_CONTAINERS = (dict, list, set)
_OBJECTS = (types.ModuleType, types.FunctionType, type)
# Functions of NumPy and PyTorch that are objects of classes of their own.
_FUNCTIONS = (type(np.mean), torch._ops.OpOverload, torch._ops.OpOverloadPacket)
# Modules that keep notes for themselves, or that something else looks after; Python's others; notes of others.
_KEEP_NOTES = frozenset(
    (
        *("sys", "os", "builtins", "threading", "warnings", "re", "typing", "linecache", "random", "functools", "gc"),
        *("importlib", "inspect", "weakref", "tokenize", "traceback", "ast", "copyreg", "contextlib", "unittest"),
    )
)
_KEEPING_STATE = sys.stdlib_module_names - _KEEP_NOTES
_NOTES = frozenset(("_handlerList", "_handlers"))
_OF_LIBRARIES = (type, types.FunctionType, types.BuiltinFunctionType, logging.Logger)
# What a logger keeps for itself, and what methods of its set.
_OWN_OF_LOGGERS = frozenset(("_cache", "manager"))
_OF_LOGGERS = ("level", "disabled", "parent", "propagate")


class Libraries:
    """Objects of libraries that the program can reach."""

    def __init__(self, guards: list[Guard], seen: dict[int, Any], watch: Callable[[Any, str], None]) -> None:
        self._guards, self._seen, self._watch = guards, seen, watch
        self._kept: dict[int, _Kept] = {}
        """Each of them, with what it had under the names that the program stores to."""
        self._stored: dict[str, None] = {}
        self._with_state: dict[int, _Kept] = {}

    def note_stores(self, code: types.CodeType) -> None:
        """Take note of the attributes that a function sets or deletes."""
        for name in stored_by(code):
            if name not in self._stored:
                self._stored[name] = None
                for kept in self._kept.values():
                    kept.keep(name)

    def meet_named(self, owner: Any, name: str, names: Collection[str]) -> None:
        """Take note of what a function names, if it is a class or function of a library."""
        if isinstance(owner, _FUNCTIONS) or (isinstance(owner, types.FunctionType | type) and is_of_library(owner)):
            self.meet(owner, name, names)

    def meet(self, owner: Any, name: str, names: Collection[str], met: set[int] | None = None) -> None:
        """Take note of an object that the program reaches, and of those in it that go by names used there as well."""
        met = {id(owner)} if met is None else met
        own = _attributes(owner)
        if id(owner) not in self._kept:
            self._kept[id(owner)] = _Kept(owner, name, self._stored)
            self._guards.append(self._kept[id(owner)].guard())
            self._keep_state_of(owner)
            if owner is logging:
                self._meet_loggers()
            if isinstance(owner, abc.ABCMeta):
                self._guards.append(abstract_guard(owner))
        if owner is sys and "modules" in names:
            for module in list(sys.modules.values()):
                self._watch_named(module, names)
        if owner is threading:
            for thread in threading.enumerate():
                self.meet(thread, f"the thread {thread.name}", names)
        if not NAMESPACES.isdisjoint(names) and type(own) is dict:
            if isinstance(owner, types.ModuleType):
                self.guard_namespace(own)
            else:
                self._keep(own, f"{name}.__dict__")
        for inner in names:
            value = own.get(inner)
            if type(value) in _CONTAINERS:
                self._keep(value, f"{name}.{inner}")
            elif id(value) in met or type(value) in PLAINEST:
                continue
            elif isinstance(value, _OBJECTS) and not is_of_library(value):
                self._watch(value, f"{name}.{inner}")
            elif isinstance(value, _OBJECTS) or _is_library_object(value):
                met.add(id(value))
                self.meet(value, f"{name}.{inner}", names, met)
            elif not is_library(type(value).__module__):
                self._watch(value, f"{name}.{inner}")

    def _watch_named(self, module: Any, names: Collection[str]) -> None:
        """Take note of the containers that a module has by these names."""
        own = _attributes(module)
        for name in names:
            if type(own.get(name)) in _CONTAINERS and own[name] is not sys.modules:
                self._watch(own[name], name)

    def _meet_loggers(self) -> None:
        """Take note of all loggers, which a function gives away, and of those that the call makes."""
        for logger in (logging.root, *_loggers().values()):
            self.meet_logger(logger, f"the logger {logger.name}")
        self._guards.append(_new_loggers_guard(self._stored))

    def _keep_state_of(self, owner: Any) -> None:
        """Let a module of Python's keep what its own functions may change, such as the first day of a week."""
        module = owner if isinstance(owner, types.ModuleType) else sys.modules.get(getattr(owner, "__module__", ""))
        name = getattr(module, "__name__", "")
        is_of_torch = name.startswith("torch.")
        is_known = is_of_torch or name.partition(".")[0] in _KEEPING_STATE
        if not is_known or id(module) in self._with_state:
            return
        self._with_state[id(module)] = kept = _Kept(module, name, ())
        self._guards.append(kept.guard())
        for inner, value in list(vars(module).items()):
            if inner.startswith("__") or inner in _NOTES:
                continue
            if type(value) in PLAINEST:
                kept.keep(inner)
            elif is_of_torch:
                continue
            elif type(value) in _CONTAINERS:
                self._keep(value, f"{name}.{inner}")
            elif not isinstance(value, (types.ModuleType, *_OF_LIBRARIES)) and _is_library_object(value):
                self._keep(vars(value), f"{name}.{inner}")

    def guard_namespace(self, space: dict[str, Any]) -> None:
        """Let the global variables of a module stay as they are."""
        if id(space) not in self._seen:
            self._seen[id(space)] = space
            self._guards.append(namespace_guard(space))

    def meet_logger(self, logger: logging.Logger, name: str) -> None:
        """Take note of a logger: what it does with messages is nobody's business, what hangs on it is."""
        if id(logger) in self._kept:
            return
        self.meet(logger, name, ())
        for inner in _OF_LOGGERS:
            self._kept[id(logger)].keep(inner)
        for inner, value in vars(logger).items():
            is_own = inner in _OWN_OF_LOGGERS or is_library(logger.name)
            if type(value) in _CONTAINERS and not is_own:
                self._keep(value, f"{name}.{inner}")
        if logger.parent is not None:
            self.meet_logger(logger.parent, f"{name}.parent")

    def _keep(self, container: Any, name: str) -> None:
        if id(container) not in self._seen:
            self._seen[id(container)] = container
            self._guards.append(_modules_guard() if container is sys.modules else contents_guard(container, name))


def _loggers() -> dict[str, logging.Logger]:
    known = logging.root.manager.loggerDict
    return {name: found for name, found in known.items() if isinstance(found, logging.Logger)}


def _new_loggers_guard(stored: dict[str, None]) -> Guard:
    """A logger that the call makes has nothing that a later call could find: it is there from then on."""
    before, size = _loggers(), len(logging.root.manager.loggerDict)

    def made() -> list[logging.Logger]:
        if len(logging.root.manager.loggerDict) == size:
            return []
        return [logger for name, logger in _loggers().items() if name not in before]

    def hung(logger: logging.Logger) -> set[str]:
        return vars(logger).keys() & stored.keys() - _OWN_NAMES

    def changed() -> str | None:
        told = (logger.name for logger in made() if logger.level or hung(logger))
        return next((f"the logger `{name}`" for name in told), None)

    def restore() -> None:
        for logger in made():
            logger.setLevel(logging.NOTSET)
            for name in hung(logger):
                delattr(logger, name)

    return Guard(changed, restore)


_OWN_NAMES = frozenset(vars(logging.Logger("")))


def _modules_guard() -> Guard:
    """The table of modules keeps what it has; imports may add to it."""
    before = dict(sys.modules)
    modules = list(before.values())

    def changed_names() -> Iterable[str]:
        now = sys.modules
        if not all(map(operator.is_, map(now.get, before), modules)):
            yield from (name for name, module in before.items() if now.get(name, _MISSING) is not module)
        if len(now) != len(before):
            known = set(map(id, before.values()))
            added = ((name, now[name]) for name in now.keys() - before.keys())
            yield from (name for name, module in added if id(module) in known or not _is_imported(module))

    def changed() -> str | None:
        name = next(iter(changed_names()), None)
        return None if name is None else f"the module `{name}` in `sys.modules`"

    def restore() -> None:
        for name in list(changed_names()):
            if name in before:
                sys.modules[name] = before[name]
            else:
                del sys.modules[name]

    return Guard(changed, restore)


def _is_imported(module: Any) -> bool:
    return attribute(module, "__spec__") is not None


def _is_library_object(value: Any) -> bool:
    return is_library(type(value).__module__) and type(attribute(value, "__dict__")) is dict


def is_of_library(value: Any) -> bool:
    """Whether a module, class or function is a library's."""
    return is_library(value.__name__ if isinstance(value, types.ModuleType) else value.__module__)


def _attributes(owner: Any) -> Any:
    return attribute(owner, "__dict__", {})


class _Kept:
    """An object of a library that keeps what it has under some names; it may learn of modules."""

    def __init__(self, owner: Any, name: str, names: Iterable[str]) -> None:
        self._owner, self._name = owner, name
        self._present: dict[str, Any] = {}
        self._absent: set[str] = set()
        self._size = len(_attributes(owner))
        for inner in names:
            self.keep(inner)

    def keep(self, name: str) -> None:
        """Let it keep what it has under one more name."""
        value = _attributes(self._owner).get(name, _MISSING)
        if value is _MISSING:
            self._absent.add(name)
        else:
            self._present[name] = value

    def guard(self) -> Guard:
        """It has what it had."""
        return Guard(self._changed, self._restore)

    def _changed_names(self) -> Iterable[str]:
        own = _attributes(self._owner)
        for name, value in self._present.items():
            if own.get(name, _MISSING) is not value and not is_replaced(self._owner, name):
                yield name
        if len(own) != self._size and not own.keys().isdisjoint(self._absent):
            for name in self._absent & own.keys():
                if not isinstance(own[name], types.ModuleType) and not is_replaced(self._owner, name):
                    yield name

    def _changed(self) -> str | None:
        name = next(iter(self._changed_names()), None)
        return None if name is None else f"`{name}` of `{self._name}`"

    def _restore(self) -> None:
        for name in list(self._changed_names()):
            if name in self._absent:
                delattr(self._owner, name)
            else:
                setattr(self._owner, name, self._present[name])
