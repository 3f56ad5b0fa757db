"""A builtin that meets a decision halfway has done something already; what makes an iterator calls nothing else yet."""

import bisect
import collections
import functools
import itertools
import operator
from collections.abc import Iterator
from typing import Any

from torch import Tensor

from tests.python_rules.rule import refused


class _Counting:
    """Gives numbers, and moves on before it decides."""

    def __init__(self, x: Tensor) -> None:
        self.x = x
        self.left = 3

    def __iter__(self) -> "_Counting":
        return self

    def __next__(self) -> int:
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.left * 10 if self.x.sum() > self.left else self.left


class _Ordered:
    """Counts how often it is compared, and decides by that."""

    def __init__(self, x: Tensor, number: int) -> None:
        self.x, self.number, self.asked = x, number, 0

    def __lt__(self, other: "_Ordered") -> bool:
        self.asked += 1
        return self.number < other.number if self.x.sum() > self.asked - 2 else self.number > other.number

    def __eq__(self, other: object) -> bool:
        self.asked += 1
        return bool(self.x.sum() > self.asked) and isinstance(other, _Ordered)

    __hash__ = object.__hash__


def collected(x: Tensor) -> Any:
    """Items of an iterator that decides are collected."""
    return list(_Counting(x)), tuple(_Counting(x)), sum(_Counting(x)), sorted(_Counting(x)), [*_Counting(x)]


def extended(x: Tensor) -> Any:
    """A list is made longer by an iterator that decides."""
    items = [7]
    items.extend(_Counting(x))
    return items


def keys(x: Tensor) -> Any:
    """The function that gives keys writes down that it was called."""
    log: list[int] = []

    def key(number: int) -> int:
        log.append(number)
        return number if x.sum() > 0 else -number

    return sorted([2, 1, 3], key=key), max([1, 2], key=key), min(iter([1, 2]), key=key), log


def reduced(x: Tensor) -> Any:
    """The items and the function of `reduce` take turns."""
    log: list[Any] = []

    def numbers() -> Iterator[int]:
        for number in range(3):
            log.append(number)
            yield number

    def combine(one: int, other: int) -> int:
        log.append((one, other))
        return one + other if x.sum() > 0 else one - other

    return functools.reduce(combine, numbers()), log


def compared(x: Tensor) -> Any:
    """Comparisons are those that Python makes, in its order."""
    items = [_Ordered(x, number) for number in (2, 0, 1)]
    found = [item.number for item in sorted(items)], [item.asked for item in items]
    place = bisect.bisect_left(items, _Ordered(x, 1))
    return found, place, items.index(_Ordered(x, 0)) if x.sum() > 2 else None


def wrong_arguments(x: Tensor) -> Any:
    """What is no iterable is refused by Python when the iterator is made, not when it is asked."""
    found: list[str] = []
    for make in (enumerate, reversed, zip, iter, itertools.pairwise, itertools.cycle, itertools.groupby):
        try:
            make(3)  # type: ignore[operator]
        except TypeError as error:
            found.append(str(error))
    try:
        itertools.islice([1], -1)
    except ValueError as error:
        found.append(str(error))
    try:
        type(x, x)  # type: ignore[call-overload]
    except TypeError as error:
        found.append(str(error))
    return found if x.sum() > 0 else len(found)


def groups(x: Tensor) -> Any:
    """A group of `groupby` is at its end as soon as the next one is asked for."""
    numbers = [1, 1, 2, 3, 3]
    kept = [group for _, group in itertools.groupby(numbers, key=lambda number: number if x.sum() > 0 else 0)]
    used = [(key, list(group)) for key, group in itertools.groupby(x.tolist(), key=lambda number: number > 0)]
    return [list(group) for group in kept], used


def flags(x: Tensor) -> Any:
    """Two flags are the same object if they are equal."""
    one, other = bool(x[0] > 0), bool(x[1] > 0)
    return one is other, one is not other, one is True


def builtins_with_too_few_arguments(x: Tensor) -> Any:
    found: list[str] = []
    for function in (operator.getitem, operator.setitem, getattr, setattr, hasattr, range):
        for args in ((), ([],), (int(x[0]),)):
            try:
                found.append(str(function(*args)) if function is not range or not args else "a range")
            except TypeError:
                found.append("too few")
    return found, x + 1 if x.sum() > 0 else x


def _three(x: Tensor) -> Any:
    for number in range(3):
        if number == 1 and x.sum() > 0:
            raise ValueError
        yield number, number


def containers_take_one_item_at_a_time(x: Tensor) -> Any:
    table, ordered, items = {}, collections.OrderedDict(), []
    last: Any = collections.deque()
    for fill in (
        lambda: table.update(_three(x)),
        lambda: ordered.update(_three(x)),
        lambda: operator.iadd(items, _three(x)),
        lambda: operator.iadd(last, _three(x)),
    ):
        try:
            fill()
        except ValueError:
            x = x + 1
    return x, table, dict(ordered), items, list(last)


def items_are_taken_out_of_a_set_one_at_a_time(x: Tensor) -> Any:
    numbers = {0, 1, 2}
    try:
        numbers.difference_update(number for number, _ in _three(x))
    except ValueError:
        pass
    return x, sorted(numbers)


def what_fills_a_container_sees_it(x: Tensor) -> Any:
    table: dict[int, int] = {}
    table.update((number, len(table)) for number in range(3))
    items: list[int] = []
    items += (len(items) for _ in range(3) if x.sum() > -1)
    merged = {5: 5}
    merged |= ((number, len(merged)) for number in range(2))
    return x, table, items, merged


class _Last:
    """A class of one's own gets the generator itself."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __iadd__(self, more: Any) -> "_Last":
        self.seen.append(type(more).__name__)
        self.seen.append(next(more)[0])
        return self


@refused("DY002")
def own_addition_in_place(x: Tensor) -> Any:
    last = _Last()
    last += _three(-x.abs())
    return (x, last.seen) if x.sum() > 0 else (x + 1, last.seen)


class _Equal:
    """What is called may equal anything."""

    def __init__(self) -> None:
        self.asked = 0

    def __eq__(self, other: object) -> bool:
        self.asked += 1
        return True

    def __hash__(self) -> int:
        return 1

    def __call__(self, items: list[float]) -> float:
        return items[0]


def what_is_called_is_not_compared(x: Tensor) -> Any:
    call = _Equal()
    first = call([2.0])
    return (x, first, call.asked) if x.sum() > 0 else (x + 1, first, call.asked)
