"""Builtins as plain Python, for when a decision hides in what they do.

The machine steps into these instead of calling the builtin, so each comparison becomes a decision of the program.
"""

import builtins
import functools
import operator
from typing import Any

from dycl.rewrite import natives


def any_of(items: Any) -> bool:
    """`any(items)`."""
    for item in items:
        if item:
            return True
    return False


def all_of(items: Any) -> bool:
    """`all(items)`."""
    for item in items:
        if not item:
            return False
    return True


def sum_of(items: Any, start: Any = 0) -> Any:
    """`sum(items, start)`."""
    total = start
    for item in items:
        total = total + item
    return total


def least(*args: Any, **options: Any) -> Any:
    """`min(...)`."""
    return _first_best(args, options, operator.lt, "min")


def greatest(*args: Any, **options: Any) -> Any:
    """`max(...)`."""
    return _first_best(args, options, operator.gt, "max")


def _first_best(args: tuple[Any, ...], options: dict[str, Any], better: Any, name: str) -> Any:
    key = options.get("key")
    values = list_of(args[0]) if len(args) == 1 else args
    if not values:
        if "default" in options:
            return options["default"]
        raise ValueError(f"{name}() arg is an empty sequence")
    best = values[0]
    best_key = best if key is None else key(best)
    for value in values[1:]:
        value_key = value if key is None else key(value)
        if better(value_key, best_key):
            best, best_key = value, value_key
    return best


def list_of(items: Any = ()) -> list[Any]:
    """`list(items)`."""
    result = []
    for item in items:
        result.append(item)
    return result


def tuple_of(items: Any = ()) -> tuple[Any, ...]:
    """`tuple(items)`."""
    return tuple(list_of(items))


def set_of(items: Any = ()) -> set[Any]:
    """`set(items)`."""
    return set(list_of(items))


def dict_of(items: Any = (), **more: Any) -> dict[Any, Any]:
    """`dict(items)`."""
    result = {}
    for key, value in items:
        result[key] = value
    result.update(more)
    return result


def enumerated(items: Any, start: int = 0) -> Any:
    """`enumerate(items)`."""
    number = start
    for item in items:
        yield number, item
        number = number + 1


def mapped(function: Any, *iterables: Any) -> Any:
    """`map(function, ...)`."""
    if len(iterables) == 1:
        for item in iterables[0]:
            yield function(item)
    else:
        for items in zip(*iterables, strict=False):
            yield function(*items)


def filtered(function: Any, items: Any) -> Any:
    """`filter(function, items)`."""
    for item in items:
        if item if function is None else function(item):
            yield item


def zipped(first_one: Any, *others: Any, strict: bool = False) -> Any:
    """`zip(...)` of things of which at least one is made step by step."""
    lists = [list_of(items) for items in others]
    position = 0
    for item in first_one:
        if any(position >= len(items) for items in lists):
            if strict:
                raise ValueError("zip() has an argument that is shorter than argument 1")
            return
        yield item, *[items[position] for items in lists]
        position = position + 1
    if strict and any(position < len(items) for items in lists):
        raise ValueError("zip() has an argument that is longer than argument 1")


def joined(separator: str, items: Any) -> str:
    """`separator.join(items)`."""
    return separator.join(list_of(items))


def contained(item: Any, container: Any) -> bool:
    """`item in container`."""
    for candidate in container:
        if candidate is item or candidate == item:
            return True
    return False


def not_contained(item: Any, container: Any) -> bool:
    """`item not in container`."""
    for candidate in container:
        if candidate is item or candidate == item:
            return False
    return True


def in_order(items: Any, key: Any = None, reverse: bool = False) -> list[Any]:
    """`sorted(items)`, by insertion: equal items keep their order."""
    result: list[Any] = []
    keys: list[Any] = []
    for item in items:
        item_key = item if key is None else key(item)
        place = len(result)
        while place > 0 and (keys[place - 1] < item_key if reverse else item_key < keys[place - 1]):
            place -= 1
        result.insert(place, item)
        keys.insert(place, item_key)
    return result


def sort_in_place(items: list[Any], key: Any = None, reverse: bool = False) -> None:
    """`items.sort()`."""
    items[:] = in_order(items, key, reverse)


def first(items: Any, *default: Any) -> Any:
    """`next(items)`."""
    for item in items:
        return item
    if default:
        return default[0]
    raise StopIteration


def reduced(function: Any, items: Any, *initial: Any) -> Any:
    """`functools.reduce(function, items)`."""
    values = list_of(items)
    if initial:
        values = [initial[0], *values]
    total = values[0]
    for value in values[1:]:
        total = function(total, value)
    return total


SUBSTITUTES: dict[Any, Any] = {
    builtins.any: any_of,
    builtins.all: all_of,
    builtins.sum: sum_of,
    builtins.min: least,
    builtins.max: greatest,
    builtins.list: list_of,
    builtins.tuple: tuple_of,
    builtins.set: set_of,
    builtins.dict: dict_of,
    builtins.enumerate: enumerated,
    builtins.map: mapped,
    builtins.filter: filtered,
    builtins.zip: zipped,
    builtins.sorted: in_order,
    builtins.next: first,
    functools.reduce: reduced,
    str.join: joined,
    list.sort: sort_in_place,
    natives.spread: list_of,
    natives.contained: contained,
    natives.not_contained: not_contained,
}
