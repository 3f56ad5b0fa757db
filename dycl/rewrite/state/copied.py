"""What must be written down of exceptions, arrays and sets so that a copy does what they do."""

import collections
import dis
import functools
import itertools
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dycl.rewrite.normalise.private_names import mangled
from dycl.rewrite.plain_lookup import MISSING, attribute
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.classes import builtin_maker, plain_base
from dycl.rewrite.state.unchanging import TOLD_BY_TEXT

_LINKS = ("__cause__", "__context__", "__suppress_context__", "__traceback__")


def error_fields(error: BaseException) -> list[tuple[str, Any]]:
    """What an exception has beside its arguments and its `__dict__`: links to others, and fields written in C."""
    # Setting the cause sets whether the context is shown, so that comes last.
    names = [
        name
        for cls in type(error).__mro__
        for name, found in vars(cls).items()
        if isinstance(found, types.MemberDescriptorType) and not name.startswith("__")
    ]
    if isinstance(error, BaseExceptionGroup):
        names = []  # it has its arguments by other names, for good
    if hasattr(error, "characters_written") and isinstance(error, OSError):
        names.append("characters_written")
    # A field of Python's own that was never set reads as None, and would not be the same if it were set to that.
    values = ((name, getattr(error, name)) for name in names)
    return [*((name, value) for name, value in values if value is not None), *((x, getattr(error, x)) for x in _LINKS)]


def require_plain_array(array: np.ndarray[Any, Any], outlives: bool) -> None:
    """Refuse an array of which a copy of its elements would not do: one that shares its memory, or holds objects."""
    if type(array) is not np.ndarray or array.dtype.hasobject or array.dtype.names is not None:
        kind = type(array).__name__ if type(array) is not np.ndarray else f"ndarray of {array.dtype}"
        raise Refused("DY009", f"an object of type `{kind}` is alive across a decision and cannot be copied")
    if outlives:
        reason = "an array that shares its memory with something that outlives the call is alive across a decision"
        raise Refused("DY009", reason, "copy it")


def require_quiet_keys(keys: Iterable[Any]) -> None:
    """Refuse keys whose own `__hash__` or `__eq__` may change something: copying what they are in runs these."""
    for kind in set(map(type, keys)):
        for name in ("__hash__", "__eq__"):
            method = getattr(kind, name)
            if isinstance(method, types.FunctionType) and may_write(method.__code__):
                reason = f"`{kind.__name__}.{name}` may change something, and is run where a dict or set is copied"
                raise Refused("DY009", reason, f"let `{name}` only read")


@functools.cache
def may_write(code: types.CodeType) -> bool:
    """Whether a function sets something that it has not made itself, as far as its code tells."""
    written = any(instruction.opname.startswith(("STORE_", "DELETE_")) for instruction in _effects(code))
    return written or not _CHANGING.isdisjoint(code.co_names)


def _effects(code: types.CodeType) -> Iterator[dis.Instruction]:
    return (instruction for instruction in dis.get_instructions(code) if not instruction.opname.endswith("_FAST"))


_CHANGING = frozenset(
    ("append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "clear", "remove", "discard")
) | {"setattr", "delattr", "__setattr__", "__setitem__", "write", "appendleft", "next"}


def items_held(container: Any) -> list[Any]:
    """What one of Python's containers holds, of a dict its values: by its own methods, a subclass may have others."""
    kinds: tuple[Any, ...] = (list, tuple, set, frozenset, collections.deque)
    if isinstance(container, dict):
        return list(dict.values(container))
    kind = next(kind for kind in kinds if isinstance(container, kind))
    return list(kind.__iter__(container))


_MOST_TO_TRY = 6


def in_order(items: set[Any] | frozenset[Any]) -> tuple[list[Any], int]:
    """The items of a set in an order, and with room, in which they make a set that Python goes through alike."""
    base: Any = set if isinstance(items, set) else frozenset
    ordered = list(base.__iter__(items))
    require_quiet_keys(ordered)
    count = len(ordered)
    for room in (0, _COPIED, count // 2, count, 2 * count, 4 * count, 8 * count):
        for tried in _orders(ordered):
            if list(made_set(base, tried, room)) == ordered:
                return tried, room
    raise Refused("DY009", "a set is alive across a decision whose order a copy would not have", "sort its items")


def _orders(ordered: list[Any]) -> Iterator[list[Any]]:
    """Orders in which the items may have come: of those that would like the same place, the first one has it."""
    # One that finds no place at the end of the table takes one at its beginning.
    for place in range(max(len(ordered), 1)):
        yield ordered[place:] + ordered[:place]
    if len(ordered) <= _MOST_TO_TRY:
        yield from map(list, itertools.permutations(ordered))


# How much room a set has whose items come from another set.
_COPIED = -1


def made_set(cls: Any, items: list[Any], room: int) -> Any:
    """A set, or an object of a class made from one, with room for so many items that it does not have any more."""
    if not issubclass(cls, frozenset):
        made = builtin_maker(cls)(cls)
        fill_set(made, items, room)
        return made
    source: set[Any] = set()
    fill_set(source, items, room)
    return builtin_maker(cls)(cls, source if room else items)


def fill_set(made: set[Any], items: list[Any], room: int) -> None:
    """Give an empty set these items, and so much room."""
    set.update(made, set(items) if room == _COPIED else items)
    others = {object() for _ in range(room)}
    set.update(made, others)
    set.difference_update(made, others)


def slot_names(cls: type) -> list[str]:
    """The attributes that a class has places for, by the names under which they are found."""
    named = vars(cls).get("__slots__", ())
    names = (named,) if isinstance(named, str) else tuple(named)
    return [mangled(name, cls.__name__) for name in names if name not in ("__dict__", "__weakref__")]


def filled_slots(value: Any) -> list[str]:
    """The names of the attributes that an object has in places of its class."""
    return [
        name
        for base in type(value).__mro__
        for name in slot_names(base)
        if attribute(value, name, MISSING) is not MISSING
    ]


def require_plain_object(value: Any) -> None:
    """Refuse an object of a class that is written in C, which may keep contents where Python cannot see them."""
    cls: Any = type(value)
    plain = cls.__reduce_ex__ is object.__reduce_ex__ and builtin_maker(cls) in _MAKERS
    seen = (
        attribute(value, "__dict__") is not None
        or cls is object
        or any("__slots__" in vars(base) for base in cls.__mro__)
    )
    if not plain or not seen:
        reason = f"an object of type `{cls.__name__}` is alive across a decision and cannot be copied"
        raise Refused("DY009", reason)


_MAKERS = (object.__new__, types.SimpleNamespace.__new__)


def exact(value: Any) -> Any:
    """What tells a number, text or the like apart from all others of its type."""
    if isinstance(value, str) and " at 0x" in value:
        reason = "the text of an object, which tells its address, is alive across a decision"
        raise Refused("DY009", reason, "keep the object itself")
    return repr(value) if isinstance(value, TOLD_BY_TEXT) else value


def has_number(value: Any) -> bool:
    """Whether others may hold a value, too, and see what becomes of it."""
    return (
        attribute(value, "__dict__") is not None
        if isinstance(value, tuple)
        else not isinstance(value, types.MethodType)
    )


def holds_more(value: Any) -> bool:
    """Whether a number or text is of a class of its own, and has attributes, or says itself what it equals."""
    cls: Any = type(value)
    if cls.__module__ == "builtins" or plain_base(cls) is None:
        return False
    if isinstance(cls.__hash__, types.FunctionType) or isinstance(cls.__eq__, types.FunctionType):
        return True
    return bool(attribute(value, "__dict__") or filled_slots(value))
