"""Operations on containers as plain Python, for when a number that only the input determines says where or how often.

`syntax.known_index` and its like are where the program goes on once for each possible number. What stands in for a
container's method uses that container's own ones: a class made from it may have others of the same name.
"""

import array
import builtins
import collections
import operator
from collections.abc import Sequence
from typing import Any

from torch import nn

from dycl.rewrite.normalise import syntax
from dycl.rewrite.semantics.in_python.ordering import COMPARISONS, HEAPS, are_same


def item_at(container: Any, index: Any) -> Any:
    """`container[index]`; a class is asked as it asks itself, unless its own class is a container."""
    if isinstance(container, type) and hasattr(container, "__class_getitem__"):
        return container.__class_getitem__(index)
    return container[_known(container, index, syntax.index_message(container))]


def store_at(container: Any, index: Any, value: Any) -> None:
    """`container[index] = value`."""
    container[_known(container, index, _ASSIGNED)] = value


def delete_at(container: Any, index: Any) -> None:
    """`del container[index]`."""
    del container[_known(container, index, _ASSIGNED)]


_ASSIGNED = "list assignment index out of range"


def _known(container: Any, index: Any, message: str) -> Any:
    if not isinstance(container, _BY_POSITION):
        what = "a key of this dict" if isinstance(container, dict) else "a key"
        return syntax.plain(syntax.known_key(index, what))
    if isinstance(index, slice):
        size = len(container)
        return slice(syntax.known_bound(index.start, size), syntax.known_bound(index.stop, size), index.step)
    return syntax.known_index(index, len(container), message)


# What counts its items from 0, and from its end below it; anything else may take a number for something else.
_BY_POSITION = (Sequence, collections.deque, array.array, nn.ModuleList, nn.Sequential, nn.ParameterList)


def popped(items: Any, *where: Any) -> Any:
    """`items.pop(...)`."""
    if isinstance(items, dict):
        key = syntax.plain(syntax.known_key(where[0], "a key of this dict"))
        return _table(items).pop(items, key, *where[1:])
    return list.pop(items, syntax.known_index(where[0], list.__len__(items), "pop index out of range"))


def inserted(items: list[Any], index: Any, value: Any) -> None:
    """`items.insert(index, value)`."""
    list.insert(items, syntax.known_bound(index, list.__len__(items)), value)


def set_default(items: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """`items.setdefault(key, default)`."""
    return _table(items).setdefault(items, syntax.plain(syntax.known_key(key, "a key of this dict")), default)


def _table(items: dict[Any, Any]) -> Any:
    """Whose methods know how a dict keeps its items: one that keeps their order itself has its own."""
    return collections.OrderedDict if isinstance(items, collections.OrderedDict) else dict


def place_of(items: Any, value: Any, start: int = 0, stop: int | None = None) -> int:
    """`items.index(value)`."""
    inside = syntax.own_items(items)
    found = are_same(inside, value)
    for place in range(*slice(start, stop).indices(len(inside))):
        if found[place] or inside[place] == value:
            return place
        _require_as_long(items, inside)
    raise ValueError(f"the value is not in {type(items).__name__}")


def removed(items: list[Any], value: Any) -> None:
    """`items.remove(value)`."""
    inside = syntax.own_items(items)
    found = are_same(inside, value)
    for place in range(len(inside)):
        if found[place] or inside[place] == value:
            if isinstance(items, list):
                list.pop(items, place)
            else:
                del items[place]
            return
    raise ValueError("list.remove(x): x not in list")


def counted(items: Any, value: Any) -> Any:
    """`items.count(value)`."""
    total = 0
    inside = syntax.own_items(items)
    found = are_same(inside, value)
    for place in range(len(inside)):
        total = total + (1 if found[place] else bool(inside[place] == value))
        _require_as_long(items, inside)
    return total


def _require_as_long(items: Any, before: Any) -> None:
    """Let a deque that changes while it is gone through be Python's error."""
    if isinstance(items, collections.deque) and len(items) != len(before):
        raise RuntimeError("deque mutated during iteration")


def added(items: set[Any], value: Any) -> None:
    """`items.add(value)`."""
    set.add(items, syntax.plain(syntax.known_key(value, "an item of this set")))


def discarded(items: set[Any], value: Any) -> None:
    """`items.discard(value)`."""
    set.discard(items, syntax.plain(syntax.known_key(value, "an item of this set")))


def make_set(*items: Any) -> set[Any]:
    """`{a, b}`."""
    result: set[Any] = set()
    for item in items:
        result.add(item)
    return result


def repeated(left: Any, right: Any) -> Any:
    """`left * right`, where one of them is a sequence."""
    if isinstance(left, list | tuple | str):
        return left * syntax.plain(syntax.known_key(operator.index(right), "the number of copies"))
    return syntax.plain(syntax.known_key(operator.index(left), "the number of copies")) * right


def repeated_in_place(left: Any, right: Any) -> Any:
    """`left *= right`: a list stays the same one."""
    if not isinstance(left, list):
        return repeated(left, right)
    left *= syntax.plain(syntax.known_key(operator.index(right), "the number of copies"))
    return left


def power(base: Any, exponent: Any) -> Any:
    """`base ** exponent` of whole numbers."""
    if exponent < 0:
        return float(base) ** exponent
    return syntax.whole_power(base, exponent)


SUBSTITUTES: dict[Any, Any] = {
    **COMPARISONS,
    **HEAPS,
    operator.getitem: item_at,
    operator.setitem: store_at,
    operator.delitem: delete_at,
    list.pop: popped,
    dict.pop: popped,
    list.insert: inserted,
    dict.setdefault: set_default,
    list.index: place_of,
    tuple.index: place_of,
    list.remove: removed,
    list.count: counted,
    tuple.count: counted,
    collections.deque.index: place_of,
    collections.deque.remove: removed,
    collections.deque.count: counted,
    set.add: added,
    set.discard: discarded,
    syntax.make_set: make_set,
    operator.mul: repeated,
    operator.imul: repeated_in_place,
    operator.pow: power,
    operator.ipow: power,
    builtins.pow: power,
}
