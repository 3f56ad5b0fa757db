"""Order as plain Python: comparisons of sequences, `heapq` and `bisect`, each comparison a decision of the program."""

import bisect
import functools
import heapq
import math
import operator
from typing import Any

from dycl.rewrite.normalise import data_model, syntax
from dycl.rewrite.semantics.in_python.grouping import END


class Key:
    """What `functools.cmp_to_key` makes of an item."""

    __slots__ = ("compare", "obj")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, obj: Any, compare: Any) -> None:
        self.obj = obj
        self.compare = compare

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.obj, _item_of(other)) < 0

    def __gt__(self, other: Any) -> Any:
        return self.compare(self.obj, _item_of(other)) > 0

    def __eq__(self, other: object) -> Any:
        return self.compare(self.obj, _item_of(other)) == 0

    def __le__(self, other: Any) -> Any:
        return self.compare(self.obj, _item_of(other)) <= 0

    def __ge__(self, other: Any) -> Any:
        return self.compare(self.obj, _item_of(other)) >= 0


def _item_of(key: Any) -> Any:
    if type(key) is not Key:
        raise TypeError("other argument must be K instance")
    return key.obj


def key_of(mycmp: Any) -> Any:
    """`functools.cmp_to_key(mycmp)`."""
    return lambda obj: Key(obj, mycmp)


def are_same(items: Any, value: Any) -> list[bool]:
    """Which of the items are this very object: numbers are no longer told apart after a decision."""
    return [syntax.are_one(item, value) for item in items]


def _pairs_that_are_same(left: Any, right: Any) -> list[bool]:
    return [syntax.are_one(left[place], right[place]) for place in range(min(len(left), len(right)))]


def equal(left: Any, right: Any) -> bool:
    """`left == right` of containers."""
    if isinstance(left, dict) and isinstance(right, dict):
        left = syntax.own_entries(left) if syntax.goes_its_own_way(left) else left
        right = syntax.own_entries(right) if syntax.goes_its_own_way(right) else right
        if left.keys() != right.keys():
            return False
        shared = {key: left[key] is right[key] for key in left}
        return all(shared[key] or left[key] == right[key] for key in left)
    _require_sequences(left, right)
    left, right = as_held(left), as_held(right)
    if len(left) != len(right):
        return False
    same = _pairs_that_are_same(left, right)
    for place in range(len(left)):
        # What is compared may take items away.
        if place < len(left) and place < len(right) and not (same[place] or _same(left[place], right[place])):
            emptied = place >= len(left) or place >= len(right)
            return emptied and len(left) == len(right)
    return len(left) == len(right)


def as_held(items: Any) -> Any:
    """A sequence, or its items as it holds them where its class gives others."""
    if type(items) is list or type(items) is tuple or not syntax.goes_its_own_way(items):
        return items
    return syntax.own_items(items)


def _same(one: Any, other: Any) -> bool:
    return syntax.are_one(one, other) or one == other


def unequal(left: Any, right: Any) -> bool:
    """`left != right` of containers."""
    return not equal(left, right)


def less(left: Any, right: Any) -> Any:
    """`left < right` of sequences."""
    return _compared(left, right, operator.lt)


def at_most(left: Any, right: Any) -> Any:
    """`left <= right` of sequences."""
    return _compared(left, right, operator.le)


def greater(left: Any, right: Any) -> Any:
    """`left > right` of sequences."""
    return _compared(left, right, operator.gt)


def at_least(left: Any, right: Any) -> Any:
    """`left >= right` of sequences."""
    return _compared(left, right, operator.ge)


def _compared(left: Any, right: Any, compare: Any) -> Any:
    _require_sequences(left, right)
    left, right = as_held(left), as_held(right)
    same = _pairs_that_are_same(left, right)
    for place in range(min(len(left), len(right))):
        if not (same[place] or _same(left[place], right[place])):
            return compare(left[place], right[place])
    return compare(len(left), len(right))


def _require_sequences(left: Any, right: Any) -> None:
    if not (isinstance(left, list | tuple) and isinstance(right, list | tuple)):
        syntax.refuse("DY001", "this comparison needs a value that only the input determines")


def pushed(heap: list[Any], item: Any) -> None:
    """`heapq.heappush(heap, item)`."""
    heap.append(item)
    _move_down(heap, 0, len(heap) - 1)


def popped(heap: list[Any]) -> Any:
    """`heapq.heappop(heap)`."""
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    _move_up(heap, 0)
    return first


def replaced(heap: list[Any], item: Any) -> Any:
    """`heapq.heapreplace(heap, item)`."""
    first = heap[0]
    heap[0] = item
    _move_up(heap, 0)
    return first


def pushed_and_popped(heap: list[Any], item: Any) -> Any:
    """`heapq.heappushpop(heap, item)`."""
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _move_up(heap, 0)
    return item


def made_heap(items: list[Any]) -> None:
    """`heapq.heapify(items)`."""
    for place in reversed(range(len(items) // 2)):
        _move_up(items, place)


def _move_down(heap: list[Any], start: int, place: int) -> None:
    item = heap[place]
    while place > start:
        parent = (place - 1) >> 1
        if not item < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def _move_up(heap: list[Any], place: int) -> None:
    start = place
    item = heap[place]
    child = 2 * place + 1
    while child < len(heap):
        right = child + 1
        if right < len(heap) and not heap[child] < heap[right]:
            child = right
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _move_down(heap, start, place)


def smallest(count: Any, items: Any, key: Any = None) -> list[Any]:
    """`heapq.nsmallest(count, items)`, with the comparisons that Python makes, in their order."""
    if count == 1:
        return _one_or_none(min(items, default=END, key=key))
    if hasattr(items, "__len__") and count >= len(items):
        return sorted(items, key=key)[:count]
    return _best(count, items, key, False)


def largest(count: Any, items: Any, key: Any = None) -> list[Any]:
    """`heapq.nlargest(count, items)`, with the comparisons that Python makes, in their order."""
    if count == 1:
        return _one_or_none(max(items, default=END, key=key))
    if hasattr(items, "__len__") and count >= len(items):
        return sorted(items, key=key, reverse=True)[:count]
    return _best(count, items, key, True)


def _one_or_none(found: Any) -> list[Any]:
    return [] if found is END else [found]


def _best(count: int, items: Any, key: Any, are_largest: bool) -> list[Any]:
    """The best of the items so far are kept as a heap with the worst of them on top, which a better one replaces."""
    step = -1 if are_largest else 1
    heap: list[Any] = []
    rest = iter(items)
    for place in range(count):
        item = next(rest, END)
        if item is END:
            break
        heap.append((item, step * place) if key is None else (key(item), step * place, item))
    if not heap:
        return heap
    for place in reversed(range(len(heap) // 2)):
        _move_up(heap, place) if are_largest else _move_up_smaller(heap, place)
    number = step * count
    for item in rest:
        value = item if key is None else key(item)
        if heap[0][0] < value if are_largest else value < heap[0][0]:
            heap[0] = (value, number) if key is None else (value, number, item)
            _move_up(heap, 0) if are_largest else _move_up_smaller(heap, 0)
            number = number + step
    heap.sort(reverse=are_largest)
    return [row[0 if key is None else 2] for row in heap]


def _move_up_smaller(heap: list[Any], start: int) -> None:
    """The same as `_move_up`, in a heap with its largest item on top."""
    item = heap[start]
    place = start
    child = 2 * place + 1
    while child < len(heap):
        if child + 1 < len(heap) and not heap[child + 1] < heap[child]:
            child = child + 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    while place > start:
        parent = (place - 1) >> 1
        if not heap[parent] < item:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def place_before(items: Any, value: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> int:
    """`bisect.bisect_left(items, value)`."""
    lo = operator.index(lo)
    high = len(items) if hi is None else hi
    while lo < high:
        middle = (lo + high) // 2
        if (items[middle] if key is None else key(items[middle])) < value:
            lo = middle + 1
        else:
            high = middle
    return lo


def place_behind(items: Any, value: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> int:
    """`bisect.bisect_right(items, value)`."""
    lo = operator.index(lo)
    high = len(items) if hi is None else hi
    while lo < high:
        middle = (lo + high) // 2
        if value < (items[middle] if key is None else key(items[middle])):
            high = middle
        else:
            lo = middle + 1
    return lo


def sorted_in_before(items: Any, value: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    """`bisect.insort_left(items, value)`."""
    items.insert(place_before(items, value if key is None else key(value), lo, hi, key=key), value)


def sorted_in_behind(items: Any, value: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    """`bisect.insort_right(items, value)`."""
    items.insert(place_behind(items, value if key is None else key(value), lo, hi, key=key), value)


def common_divisor(*numbers: Any) -> Any:
    """`math.gcd(...)`."""
    result: Any = 0
    for number in numbers:
        other = abs(_whole(number))
        while other:
            result, other = other, result % other
    return result


def _whole(number: Any) -> Any:
    """A number as `operator.index` gives it."""
    if isinstance(number, int):
        return number
    own = data_model.special(number, "__index__")
    if own is None or isinstance(number, float):
        raise TypeError(f"'{type(number).__name__}' object cannot be interpreted as an integer")
    return own(number)


def common_multiple(*numbers: Any) -> Any:
    """`math.lcm(...)`."""
    result: Any = 1
    for given in numbers:
        number = _whole(given)
        divisor = common_divisor(result, number)
        if divisor == 0:
            return 0
        result = abs(result * number) // divisor
    return result


def product(items: Any, *, start: Any = 1) -> Any:
    """`math.prod(items)`."""
    total = start
    for item in items:
        total = total * item
    return total


def floating_sum(items: Any) -> Any:
    """`math.fsum(items)`."""
    total: Any = 0.0
    rises, falls = False, False
    for item in items:
        number = float(item)
        total = total + number
        rises, falls = rises | (number == math.inf), falls | (number == -math.inf)
    if rises & falls:
        raise ValueError("-inf + inf in fsum")
    return total


COMPARISONS: dict[Any, Any] = {
    operator.eq: equal,
    operator.ne: unequal,
    operator.lt: less,
    operator.le: at_most,
    operator.gt: greater,
    operator.ge: at_least,
}
# A native call would have changed the heap by the time it finds that it cannot go on.
HEAPS: dict[Any, Any] = {
    heapq.heappush: pushed,
    heapq.heappop: popped,
    heapq.heapreplace: replaced,
    heapq.heappushpop: pushed_and_popped,
    heapq.heapify: made_heap,
    heapq.nsmallest: smallest,
    heapq.nlargest: largest,
}
SUBSTITUTES: dict[Any, Any] = {
    bisect.bisect_left: place_before,
    bisect.bisect_right: place_behind,
    bisect.insort_left: sorted_in_before,
    bisect.insort_right: sorted_in_behind,
    functools.cmp_to_key: key_of,
    math.gcd: common_divisor,
    math.lcm: common_multiple,
    math.prod: product,
    math.fsum: floating_sum,
}
WITH_POSITIONS: tuple[Any, ...] = (
    *(equal, _compared, _move_down, _move_up, _move_up_smaller, _best, place_before, place_behind),
)
