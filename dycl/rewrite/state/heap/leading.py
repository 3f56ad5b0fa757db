"""What values lead to, one after the other."""

import collections
import gc
import threading
import types
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from dycl.rewrite.own_code import is_library
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.state.copied import items_held
from dycl.rewrite.state.heap.contents import cell_contents
from dycl.rewrite.state.heap.reach import held_by, leads_nowhere, names_in


def leads_to(values: Iterable[Any], wanted: Collection[int]) -> bool:
    """Whether these values lead to one of the objects with these addresses: by attributes, items, global variables."""
    waiting, seen = list(values) if wanted else [], set[int]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or leads_nowhere(type(value)):
            continue
        seen.add(id(value))
        if id(value) in wanted:
            return True
        waiting.extend(parts_of(value))
    return False


def parts_of(value: Any) -> list[Any]:
    """What a value holds or names."""
    match value:
        case types.FunctionType():
            cells = [held for cell in value.__closure__ or () for held in cell_contents(cell)]
            named = [value.__globals__[name] for name in names_in(value.__code__) if name in value.__globals__]
            return [*cells, *named, *(value.__defaults__ or ())]
        case types.ModuleType() | type():
            return []
        case dict():
            return [*dict.keys(value), *items_held(value)]
        case list() | tuple() | set() | frozenset() | collections.deque():
            return items_held(value)
        case _:
            return [*(held_by(value) or ()), *([own] if (own := attribute(value, "__dict__")) is not None else [])]


class Leading:
    """Which of the things that were found lead to those that are wanted: by attributes, items and classes.

    Variables that a function names are left out: who uses them names them.
    """

    def __init__(self) -> None:
        self._looked_at: dict[int, Any] = {}
        self._holders: dict[int, list[int]] = collections.defaultdict(list)
        self._leading: set[int] = set()
        self._leads_on: dict[type, bool] = {}

    def learn(self, found: Iterable[Any], wanted: Iterable[int]) -> None:
        """Look at more that was found, and for more that is wanted."""
        waiting, reached = list(found), [key for key in wanted if key not in self._leading]
        while waiting:
            value = waiting.pop()
            if id(value) in self._looked_at:
                continue
            self._looked_at[id(value)] = value
            for part in self._not_leaves(_referred_to(value)):
                self._holders[id(part)].append(id(value))
                if id(part) in self._leading:
                    reached.append(id(value))
                waiting.append(part)
        while reached:
            key = reached.pop()
            if key not in self._leading:
                self._leading.add(key)
                reached.extend(self._holders[key])

    def any_of(self, values: Iterable[Any]) -> bool:
        """Whether one of these values leads there, also if it was made only now."""
        waiting, seen = self._not_leaves(values), set[int]()
        while waiting:
            value = waiting.pop()
            key = id(value)
            if key in self._leading:
                return True
            if key not in self._looked_at and key not in seen:
                seen.add(key)
                waiting.extend(self._not_leaves(_referred_to(value)))
        return False

    def _not_leaves(self, values: Iterable[Any]) -> list[Any]:
        """Those of the values that may lead to others; it is asked of each class once, for there are many values."""
        found = []
        for value in values:
            kind = type(value)
            if kind not in self._leads_on:
                self._leads_on[kind] = not leads_nowhere(kind)
            if self._leads_on[kind]:
                found.append(value)
        return found


def _referred_to(value: Any) -> Iterable[Any]:
    """What can be got from a value without a call and without a name of a variable: a function has both of its own."""
    match value:
        case type():
            return () if is_library(value.__module__) else (*vars(value).values(), *value.__bases__)
        case types.FunctionType() | types.ModuleType() | types.CodeType() | types.FrameType():
            return ()
        case np.ndarray():
            return list(value.flat) if value.dtype.hasobject else ()
        case threading.local():
            return list(vars(value).values())
        case _:
            # What a variable of the context holds, Python does not tell as part of it.
            return [*gc.get_referents(value), *(held_by(value) or ())]
