"""Containers filled with what an iterable gives, as plain Python."""

import builtins
import collections
import operator
from typing import Any

from dycl.rewrite.normalise import data_model, spreading
from dycl.rewrite.semantics.in_python.special_methods import length


def list_of(items: Any = ()) -> list[Any]:
    """`list(items)`."""
    result: list[Any] = []
    for item in _asked_for_its_length(items) if data_model.tells_its_length(items) else items:
        result.append(item)
    return result


def _asked_for_its_length(items: Any) -> Any:
    """The iterator over `items`, which is asked how many there will be."""
    iterator = iter(items)
    if data_model.special(items, "__len__") is not None:
        try:
            length(items)
            return iterator
        except TypeError:
            pass
    hint = data_model.special(items, "__length_hint__")
    if hint is None:
        return iterator
    try:
        count = hint(items)
    except TypeError:
        return iterator
    if count is NotImplemented:
        return iterator
    if not isinstance(count, int):
        raise TypeError(f"__length_hint__ must be an integer, not {type(count).__name__}")
    if count < 0:
        raise ValueError("__length_hint__() should return >= 0")
    return iterator


def first_of(items: Any, most: int | None) -> list[Any]:
    """The first `most` items, or all, and nothing is asked of what comes after."""
    if most is None:
        return list_of(items)
    result: list[Any] = []
    iterator = iter(items)
    for _ in range(most):
        try:
            result.append(next(iterator))
        except StopIteration:
            break
    return result


def tuple_of(items: Any = ()) -> tuple[Any, ...]:
    """`tuple(items)`."""
    return tuple(list_of(items))


def set_of(items: Any = ()) -> set[Any]:
    """`set(items)`."""
    result: set[Any] = set()
    for item in items:
        result.add(item)
    return result


def dict_of(items: Any = (), **more: Any) -> dict[Any, Any]:
    """`dict(items)`."""
    result = {}
    if hasattr(items, "keys"):
        for key in items.keys():  # noqa: SIM118 - a mapping's own
            result[key] = items[key]
    else:
        for key, value in items:
            result[key] = value
    result.update(more)
    return result


def joined(separator: str, items: Any) -> str:
    """`separator.join(items)`."""
    return separator.join(list_of(items))


def extended(items: Any, more: Any) -> None:
    """`items.extend(more)`."""
    if more is items:
        more = list(more)
    for item in _asked_for_its_length(more) if data_model.tells_its_length(more) else more:
        items.append(item)


def added(items: Any, more: Any) -> Any:
    """`items += more`, for a list."""
    extended(items, more)
    return items


def updated(table: Any, *given: Any, **named: Any) -> None:
    """`table.update(items, **named)`."""
    store = operator.setitem if isinstance(table, collections.OrderedDict) else dict.__setitem__
    for items in given:
        if hasattr(items, "keys"):
            for key in items.keys():  # noqa: SIM118 - a mapping's own
                store(table, key, items[key])
        else:
            for key, value in items:
                store(table, key, value)
    for name, value in named.items():
        store(table, name, value)


def updated_in_place(table: Any, items: Any) -> Any:
    """`table |= items`, for a dict."""
    updated(table, items)
    return table


def with_items(items: Any, *others: Any) -> None:
    """`items.update(*others)`, for a set."""
    for other in others:
        for item in other:
            set.add(items, item)


def without_items(items: Any, *others: Any) -> None:
    """`items.difference_update(*others)`."""
    for other in others:
        for item in list(other) if other is items else other:
            set.discard(items, item)


def extended_to_the_left(items: Any, more: Any) -> None:
    """`items.extendleft(more)`."""
    if more is items:
        more = list(more)
    for item in more:
        items.appendleft(item)


def deque_of(iterable: Any = (), maxlen: Any = None) -> Any:
    """`collections.deque(iterable, maxlen)`."""
    result: Any = collections.deque(maxlen=maxlen)
    for item in iterable:
        result.append(item)
    return result


def from_keys(iterable: Any, value: Any = None) -> dict[Any, Any]:
    """`dict.fromkeys(iterable, value)`."""
    result = {}
    for key in iterable:
        result[key] = value
    return result


def only_copies(callee: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call puts the items of a plain container into another one, whatever they are."""
    kinds: tuple[Any, ...] = (dict,) if callee is dict else (list, tuple)
    return any(callee is kind for kind in (list, tuple, dict)) and len(args) == 1 and type(args[0]) in kinds


SUBSTITUTES: dict[Any, Any] = {
    builtins.list: list_of,
    builtins.tuple: tuple_of,
    builtins.set: set_of,
    builtins.dict: dict_of,
    str.join: joined,
    list.extend: extended,
    collections.deque: deque_of,
    collections.deque.extend: extended,
    collections.deque.extendleft: extended_to_the_left,
    dict.fromkeys: from_keys,
    spreading.spread: first_of,
}
