"""Operations on containers as plain Python, for when a number that only the input determines says where or how often.

`syntax.known_index` and its like are where the program goes on once for each possible number.
"""

import builtins
import collections
import operator
from typing import Any

from dycl.rewrite.normalise import syntax
from dycl.rewrite.semantics.in_python.ordering import COMPARISONS, HEAPS, are_same


def item_at(container: Any, index: Any) -> Any:
    """`container[index]`."""
    return container[_known(container, index)]


def store_at(container: Any, index: Any, value: Any) -> None:
    """`container[index] = value`."""
    container[_known(container, index)] = value


def delete_at(container: Any, index: Any) -> None:
    """`del container[index]`."""
    del container[_known(container, index)]


def _known(container: Any, index: Any) -> Any:
    if isinstance(container, dict):
        return syntax.plain(syntax.known_key(index, "a key of this dict"))
    if isinstance(index, slice):
        size = len(container)
        return slice(syntax.known_bound(index.start, size), syntax.known_bound(index.stop, size), index.step)
    return syntax.known_index(index, len(container), "list assignment index out of range")


def popped(items: Any, *where: Any) -> Any:
    """`items.pop(...)`."""
    if isinstance(items, dict):
        return items.pop(syntax.plain(syntax.known_key(where[0], "a key of this dict")), *where[1:])
    return items.pop(syntax.known_index(where[0], len(items), "pop index out of range"))


def inserted(items: list[Any], index: Any, value: Any) -> None:
    """`items.insert(index, value)`."""
    items.insert(syntax.known_bound(index, len(items)), value)


def set_default(items: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """`items.setdefault(key, default)`."""
    return items.setdefault(syntax.plain(syntax.known_key(key, "a key of this dict")), default)


def place_of(items: Any, value: Any, start: int = 0, stop: int | None = None) -> int:
    """`items.index(value)`."""
    found = are_same(items, value)
    for place in range(*slice(start, stop).indices(len(items))):
        if found[place] or items[place] == value:
            return place
    raise ValueError(f"the value is not in {type(items).__name__}")


def removed(items: list[Any], value: Any) -> None:
    """`items.remove(value)`."""
    found = are_same(items, value)
    for place in range(len(items)):
        if found[place] or items[place] == value:
            del items[place]
            return
    raise ValueError("list.remove(x): x not in list")


def counted(items: Any, value: Any) -> Any:
    """`items.count(value)`."""
    total = 0
    found = are_same(items, value)
    for place in range(len(items)):
        total = total + (1 if found[place] else bool(items[place] == value))
    return total


def added(items: set[Any], value: Any) -> None:
    """`items.add(value)`."""
    items.add(syntax.plain(syntax.known_key(value, "an item of this set")))


def discarded(items: set[Any], value: Any) -> None:
    """`items.discard(value)`."""
    items.discard(syntax.plain(syntax.known_key(value, "an item of this set")))


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
