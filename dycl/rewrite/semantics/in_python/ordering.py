"""Order as plain Python: comparisons of sequences, `heapq` and `bisect`, each comparison a decision of the program."""

import bisect
import functools
import heapq
import math
import operator
from typing import Any

from dycl.rewrite.normalise import syntax


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


def equal(left: Any, right: Any) -> bool:
    """`left == right` of containers."""
    if isinstance(left, dict) and isinstance(right, dict):
        if left.keys() != right.keys():
            return False
        return all(left[key] is right[key] or left[key] == right[key] for key in left)
    _require_sequences(left, right)
    if len(left) != len(right):
        return False
    for place in range(len(left)):
        # What is compared may take items away.
        if place < len(left) and place < len(right) and not _same(left[place], right[place]):
            emptied = place >= len(left) or place >= len(right)
            return emptied and len(left) == len(right)
    return len(left) == len(right)


def _same(one: Any, other: Any) -> bool:
    return one is other or one == other


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
    for place in range(min(len(left), len(right))):
        if not (left[place] is right[place] or left[place] == right[place]):
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
    """`heapq.nsmallest(count, items)`."""
    return sorted(items, key=key)[: max(count, 0)]


def largest(count: Any, items: Any, key: Any = None) -> list[Any]:
    """`heapq.nlargest(count, items)`."""
    return sorted(items, key=key, reverse=True)[: max(count, 0)]


def place_before(items: Any, value: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> int:
    """`bisect.bisect_left(items, value)`."""
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
        other = abs(number)
        while other:
            result, other = other, result % other
    return result


def common_multiple(*numbers: Any) -> Any:
    """`math.lcm(...)`."""
    result: Any = 1
    for number in numbers:
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
    for item in items:
        total = total + float(item)
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
WITH_POSITIONS: tuple[Any, ...] = (_move_down, _move_up, place_before, place_behind)
