"""Weak references that a program can reach: whether what they refer to stays, whatever the program does.

When an object dies that a call drops is not kept track of. So a weak reference may be used if it refers to a module of
the model, a class or the like, or to something that the program cannot reach otherwise, and hence not drop. Parameters
stay, too. Other tensors do not: the program has stand-ins in their place.
"""

import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from dycl.rewrite.own_code import is_library
from dycl.rewrite.signals import Refused

_COLLECTIONS = (weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary)


def require_no_callback(value: Any, name: str) -> None:
    """Refuse a weak reference that runs code of the user's own when what it refers to is dropped."""
    callback = value.__callback__ if isinstance(value, weakref.ref) else None
    if isinstance(callback, types.FunctionType) and not is_library(callback.__module__):
        reason = f"`{name}` is a weak reference that calls `{callback.__qualname__}` when its object is dropped"
        raise Refused("DY009", reason)


class WeakReferences:
    """Weak references that were found and not looked at yet, and the modules that stay."""

    def __init__(self) -> None:
        self._found: list[tuple[Any, str]] = []
        self._staying: set[int] = set()

    def add(self, value: Any, name: str) -> bool:
        """Take note of a value if it refers to others weakly."""
        is_weak = isinstance(value, (weakref.ref, weakref.finalize, *_COLLECTIONS)) or is_proxy(value)
        if is_weak:
            self._found.append((value, name))
        return is_weak

    def stays(self, modules: Iterable[nn.Module | None]) -> None:
        """Take note of modules that a call cannot replace."""
        self._staying.update(map(id, modules))

    def taken(self, reaches: Callable[[Any], bool]) -> list[tuple[Any, str, list[Any], bool]]:
        """The references that were found, by name, with what they refer to, and whether all of that stays.

        `reaches` says what the program gets at otherwise; to be asked when all such things are found.
        """
        found, self._found = self._found, []
        told = []
        for value, name in found:
            targets = _targets(value)
            stay = all(self._stays(target) or not (reaches(target) or _is_stood_in_for(target)) for target in targets)
            told.append((value, name, targets, stay and not isinstance(value, weakref.finalize)))
        return told

    def _stays(self, target: Any) -> bool:
        return id(target) in self._staying or isinstance(target, type | types.ModuleType)


def _is_stood_in_for(target: Any) -> bool:
    """Whether the program gets another object in its place."""
    return isinstance(target, torch.Tensor) and not isinstance(target, nn.Parameter)


def is_proxy(value: Any) -> bool:
    """Whether a value does all that another one does, to which it refers weakly."""
    return type(value) in weakref.ProxyTypes


def _targets(value: Any) -> list[Any]:
    if is_proxy(value):
        try:
            return [value.__repr__.__self__]
        except ReferenceError:
            return []
    if isinstance(value, weakref.ref):
        target = weakref.ref.__call__(value)
        return [] if target is None else [target]
    if isinstance(value, weakref.finalize):
        return list(value.peek() or ())
    if isinstance(value, weakref.WeakValueDictionary):
        return list(value.values())
    return list(value)
