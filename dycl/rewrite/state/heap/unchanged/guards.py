"""What a program can reach and must leave as it is: classes, global variables, sources of random numbers.

A change of theirs is not followed from state to state. It is noticed, undone and refused.
"""

import itertools
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from dycl.rewrite.state.heap.contents import is_class_data
from dycl.rewrite.state.heap.tally import Holding
from dycl.rewrite.state.heap.unchanged.stores import names_of, stored_by

_MISSING = object()


@dataclass(frozen=True)
class Guard:
    """Something that must not change: how to tell whether it has, and how to undo that."""

    changed: Callable[[], str | None]
    """What has changed, in words."""
    restore: Callable[[], None]
    table: Holding | None = None
    """The dict that it is all about, if it is one, and what that held."""


class ClassGuard:
    """A class keeps its attributes; those that are plain values may be followed instead."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.is_followed = False
        self._before = dict(vars(cls))
        self._names, self._values = list(self._before), list(self._before.values())
        self._itself = _ITSELF(cls)

    @property
    def data(self) -> dict[str, Any]:
        """The plain values that the class had."""
        return {name: value for name, value in self._before.items() if is_class_data(name, value)}

    def guard(self) -> Guard:
        """The class keeps what it has."""
        return Guard(self._changed, self._restore)

    def changed_name(self) -> str | None:
        """An attribute that has changed and must not."""
        if _ITSELF(self.cls) != self._itself:
            return "__name__" if self.cls.__bases__ == self._itself[-1] else "__bases__"
        if list(vars(self.cls)) == self._names and all(map(operator.is_, vars(self.cls).values(), self._values)):
            return None
        now: Any = vars(self.cls)
        if self.is_followed:
            now = {name: value for name, value in now.items() if not is_class_data(name, value)} | self.data
        return _changed_name(now, self._before, _is_note)

    def _changed(self) -> str | None:
        name = self.changed_name()
        return None if name is None else f"`{name}` of the class `{self.cls.__name__}`"

    def _restore(self) -> None:
        if _ITSELF(self.cls) != self._itself:
            self.cls.__name__, self.cls.__qualname__, self.cls.__bases__ = self._itself
        while (name := self.changed_name()) is not None:
            if name in self._before:
                type.__setattr__(self.cls, name, self._before[name])
            else:
                type.__delattr__(self.cls, name)


_ITSELF = operator.attrgetter("__name__", "__qualname__", "__bases__")


class Classes:
    """The classes that the program can reach."""

    def __init__(self) -> None:
        self._all: dict[type, ClassGuard] = {}

    def add(self, cls: type) -> Guard:
        """Take note of a class."""
        self._all[cls] = ClassGuard(cls)
        return self._all[cls].guard()

    def to_follow(self, cls: type | None) -> ClassGuard | None:
        """A class that is followed from now on: this one, or the first that has changed; None if there is none."""
        asked = [self._all[cls]] if cls in self._all else []
        if cls is None:
            asked = [guard for guard in self._all.values() if guard.changed_name() is not None]
        found = next((guard for guard in asked if not guard.is_followed), None)
        if found is not None:
            found.is_followed = True
        return found

    def follows(self, cls: type) -> bool:
        """Whether the plain values of a class are part of the state."""
        return cls in self._all and self._all[cls].is_followed


def namespace_guard(namespace: dict[str, Any]) -> Guard:
    """A module keeps its global variables; it may import others, and Python and PyTorch put notes of their own in."""
    before = {name: value for name, value in namespace.items() if name not in _PYTHONS_OWN}
    module = str(namespace.get("__name__", "?"))

    def changed_name() -> str | None:
        return _changed_name(namespace, before, lambda name, value: name.startswith("__") or _is_import(value))

    def changed() -> str | None:
        name = changed_name()
        return None if name is None else f"the global variable `{name}` of `{module}`"

    def restore() -> None:
        while (name := changed_name()) is not None:
            if name in before:
                namespace[name] = before[name]
            else:
                del namespace[name]

    return Guard(changed, restore, (namespace, dict(namespace)))


def own_dict_guard(module: nn.Module, own: dict[str, Any], name: str) -> Guard:
    """A module keeps its attributes, since its `__dict__` or a table in it is also held under another name."""
    before = dict(own)

    def changed() -> str | None:
        told = f"an attribute of a `{type(module).__name__}`, whose `__dict__` or table is held as `{name}` too"
        return None if _changed_name(own, before) is None else told

    def restore() -> None:
        if changed() is not None:
            own.clear()
            own.update(before)

    return Guard(changed, restore, (own, before))


_PYTHONS_OWN = frozenset(("__warningregistry__", "__builtins__"))


def _is_note(name: str, value: Any) -> bool:
    """Whether Python has put this into a class for itself: which slots `copy` must look at."""
    return name == "__slotnames__"


def _is_import(value: Any) -> bool:
    return isinstance(value, types.ModuleType)


def _changed_name(now: Any, before: dict[str, Any], may_be_new: Callable[[str, Any], bool] | None = None) -> str | None:
    for name, value in before.items():
        if now.get(name, _MISSING) is not value:
            return name
    if len(now) == len(before):
        return None
    new = (name for name, value in now.items() if name not in before and not (may_be_new and may_be_new(name, value)))
    return next(new, None)


class Functions:
    """Functions that keep their code and the defaults of their arguments."""

    def __init__(self) -> None:
        self._all: list[types.FunctionType] = []
        self._before: list[tuple[Any, ...]] = []
        self._parts: list[Any] = []
        self._keywords: list[tuple[types.FunctionType, dict[str, Any], dict[str, Any]]] = []
        self._named: list[tuple[types.FunctionType, tuple[Any, ...]]] = []
        self._names: list[Any] = []
        self._get_names = False
        """Whether some function that was found may give others new names or texts."""

    def add(self, function: types.FunctionType) -> None:
        """Take note of a function."""
        self._all.append(function)
        self._before.append(_PARTS(function))
        self._parts.extend(self._before[-1])
        self._named.append((function, _NAMES(function)))
        self._names.extend(_NAMES(function))
        if function.__kwdefaults__:
            self._keywords.append((function, function.__kwdefaults__, dict(function.__kwdefaults__)))

    def note_stores(self, code: types.CodeType) -> None:
        """Take note of a function: whether it may give others new names or texts."""
        self._get_names |= not (_RENAMED.isdisjoint(stored_by(code)) and _RENAMING.isdisjoint(names_of(code)))

    def annotations(self) -> list[tuple[Any, str]]:
        """What is written on all of their arguments, with their names."""
        return [(function.__annotations__, function.__qualname__) for function in self._all]

    def guard(self) -> Guard:
        """All of them keep what they have."""
        return Guard(self._changed, self._restore)

    def _changed(self) -> str | None:
        names = itertools.chain.from_iterable(map(_NAMES, self._all))
        if self._get_names and not all(map(operator.is_, names, self._names)):
            renamed = (function for function, names in self._named if _NAMES(function) != names)
            if (told := next(renamed, None)) is not None:
                return f"the name or the text of the function `{told.__qualname__}`"
        if all(map(operator.is_, itertools.chain.from_iterable(map(_PARTS, self._all)), self._parts)):
            other = (function for function, now, before in self._keywords if _changed_name(now, before) is not None)
            told = next(other, None)
            return None if told is None else f"the defaults of the function `{told.__qualname__}`"
        now = map(_PARTS, self._all)
        different = (not all(map(operator.is_, *both)) for both in zip(now, self._before, strict=True))
        changed = next(itertools.compress(self._all, different), None)
        return None if changed is None else f"the code or the defaults of the function `{changed.__qualname__}`"

    def _restore(self) -> None:
        for function, before in zip(self._all, self._before, strict=True):
            if _PARTS(function) != before:
                function.__code__, function.__defaults__, function.__kwdefaults__ = before
        for function, names in self._named if self._get_names else ():
            if _NAMES(function) != names:
                function.__name__, function.__qualname__, function.__doc__ = names
        for _, keywords, first in self._keywords:
            keywords.clear()
            keywords.update(first)


_RENAMED = frozenset(("__name__", "__qualname__", "__doc__"))
_RENAMING = frozenset(("wraps", "update_wrapper"))
_PARTS = operator.attrgetter("__code__", "__defaults__", "__kwdefaults__")
_NAMES = operator.attrgetter("__name__", "__qualname__", "__doc__")


class Objects:
    """Objects that stay of their class, and keep the dict that their attributes are in."""

    def __init__(self) -> None:
        self._all: list[Any] = []
        self._classes: list[type] = []
        self._with_dicts: list[Any] = []
        self._dicts: list[dict[str, Any]] = []

    def add(self, value: Any, own: dict[str, Any] | None = None) -> None:
        """Take note of an object, and of the dict of its attributes."""
        self._all.append(value)
        self._classes.append(type(value))
        if own is not None:
            self._with_dicts.append(value)
            self._dicts.append(own)

    def guard(self) -> Guard:
        """All of them are what they were."""
        return Guard(self._changed, self._restore)

    def _changed(self) -> str | None:
        if not all(map(operator.is_, map(type, self._all), self._classes)):
            both = zip(self._all, self._classes, strict=True)
            before = next(cls for value, cls in both if type(value) is not cls)
            return f"the class of an object, which was `{before.__name__}`"
        if not all(map(operator.is_, map(_OWN_DICT, self._with_dicts), self._dicts)):
            pairs = zip(self._with_dicts, self._dicts, strict=True)
            changed = next(value for value, own in pairs if value.__dict__ is not own)
            return f"the `__dict__` of an object of the class `{type(changed).__name__}`"
        return None

    def _restore(self) -> None:
        for value, before in zip(self._all, self._classes, strict=True):
            if type(value) is not before:
                object.__setattr__(value, "__class__", before)
        for value, own in zip(self._with_dicts, self._dicts, strict=True):
            if value.__dict__ is not own:
                object.__setattr__(value, "__dict__", own)


_OWN_DICT = operator.attrgetter("__dict__")
