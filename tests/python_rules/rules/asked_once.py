"""What Python asks once, or not at all, is asked once or not at all: items, properties, methods of numbers."""

import enum
import functools
import itertools
from collections.abc import Iterator
from typing import Any

from torch import Tensor


class _Counted:
    def __init__(self, number: int) -> None:
        self.number, self.asked = number, 0

    def __iter__(self) -> "_Counted":
        return self

    def __next__(self) -> int:
        self.asked += 1
        if self.asked > 5:
            raise StopIteration
        return self.number


class _Steps:
    def __init__(self, number: int) -> None:
        self.number = number
        self.steps: list[int] = []

    def __iter__(self) -> Iterator[int]:
        for step in range(4):
            self.steps.append(step)
            yield self.number


class _Remembers:
    def __init__(self, number: int) -> None:
        self.number, self.times = number, 0

    @functools.cached_property
    def more(self) -> int:
        self.times += 1
        return self.number + 1

    @property
    def twice(self) -> int:
        self.times += 1
        return self.number * 2


class _RemembersMore(_Remembers):
    @functools.cached_property
    def more(self) -> int:
        return super().more + 1

    @property
    def twice(self) -> int:
        return super().twice + 1


class _Metres(float):
    def __gt__(self, other: Any) -> Any:
        return not float.__le__(self, other)


class _Level(enum.IntEnum):
    HIGH = 3

    def __lt__(self, other: Any) -> Any:
        return not super().__ge__(other)


_LENGTH = _Metres(2.5)


def items_behind_those_that_are_too_many(x: Tensor) -> Any:
    numbers, counted, steps = iter([*x.tolist(), 7.0, 8.0, 9.0]), _Counted(int(x[0])), _Steps(int(x[0]))
    found: list[Any] = []
    for source in (numbers, counted, steps, itertools.count(int(x[0]))):
        try:
            a, b = source
            found.append(a + b)
        except ValueError:
            found.append("too many")
    rest, *others = numbers
    return found, rest, others, counted.asked, steps.steps


def too_few_items(x: Tensor) -> Any:
    try:
        a, b, c = (item for item in x.tolist())
        return a, b, c
    except ValueError:
        return x


def nested_items(x: Tensor) -> Any:
    (a, b), (c, *d) = (number for number in (int(x[0]), 2)), iter([3, int(x[1])])
    return a, b, c, d


def cached_properties(x: Tensor) -> Any:
    held, more = _Remembers(int(x[0])), _RemembersMore(int(x[0]))
    first = held.more + held.more + held.twice
    if x[0] > 0:
        first += more.more + more.twice
    return first, held.times, more.times, more.more, more.times


def methods_of_numbers(x: Tensor) -> Any:
    numbers = [int(item) for item in x]
    found = [any(map((3).__eq__, numbers)), all(map((0).__le__, numbers)), list(filter((0).__lt__, numbers))]
    taken = list(itertools.takewhile((0).__lt__, numbers))
    return found, taken, (0).__lt__(numbers[0]), int.__add__(numbers[0], 4), (3).__rsub__(numbers[0])


def numbers_that_do_not_fit(x: Tensor) -> Any:
    return (3).__add__(x[0].item()) is NotImplemented, (2.5).__mul__(int(x[0]))  # type: ignore[operator]


def numbers_of_classes_of_ones_own(x: Tensor) -> Any:
    return _LENGTH > x[0].item(), _Level.HIGH < int(x[0]), _Level.HIGH > int(x[0])


class _Attributes:
    def __init__(self) -> None:
        self.read = 0

    @property
    def width(self) -> int:
        self.read += 1
        return 3

    def __getattr__(self, name: str) -> int:
        if name == "height":
            return 4
        raise AttributeError(name)


class _Backwards(list[Any]):
    def __iter__(self) -> Iterator[Any]:
        return reversed(self[:])


class _Always(list[Any]):
    def __getitem__(self, index: Any) -> Any:
        return 99


class _Answers(dict[str, Any]):
    def get(self, key: str, default: Any = None) -> Any:
        return 7 if key == "a" else default


def patterns_of_attributes(x: Tensor) -> Any:
    held = _Attributes()
    found = None
    match held:
        case _Attributes(depth=1):
            found = "depth"
        case _Attributes(width=4) | _Attributes(width=3, height=4):
            found = held.read
    return found, held.read, x if x[0] > 0 else -x


def patterns_of_sequences(x: Tensor) -> Any:
    number = int(x[0])
    found: list[Any] = []
    for subject in (_Backwards([number, 2]), _Backwards([number, 2, 5]), _Always([number, 2]), [number, 3]):
        match subject:
            case [a, b] if x[0] > 0:
                found.append((a, b))
            case [a, *rest]:
                found.append((a, rest))
    return found


def patterns_of_mappings(x: Tensor) -> Any:
    found: list[Any] = []
    for subject in (_Answers(a=int(x[0])), _Answers(b=1), {"a": int(x[0]), "b": 2}, {"b": 2}):
        match subject:
            case {"a": value, "b": other, **rest}:
                found.append((value, other, rest))
            case {"a": value}:
                found.append(value)
            case _:
                found.append("none" if x[0] > 0 else "nothing")
    return found
