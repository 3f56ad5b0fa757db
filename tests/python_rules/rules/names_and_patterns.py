"""Private names, arguments by name, and `match`."""

from dataclasses import dataclass
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from tests.python_rules.rule import refused


class _Counter:
    __step = 2

    def __init__(self) -> None:
        self.__count = 0

    def __advance(self, __by: int) -> None:
        self.__count += __by * self.__step

    def count(self, x: Tensor) -> int:
        for __place in range(3):
            if x[0] > __place:
                self.__advance(__by := 1)
        return self.__count


def private_names(x: Tensor) -> Any:
    counter = _Counter()
    return x, counter.count(x), sorted(vars(counter))


class __Hidden:
    def value(self, x: Tensor) -> Any:
        self.__value = x * 2 if x.sum() > 0 else x
        return self.__value


_Hidden = __Hidden


def private_names_of_a_class_with_underscores(x: Tensor) -> Any:
    hidden = _Hidden()
    return hidden.value(x), list(vars(hidden))


def _named(a: int = 0, **rest: int) -> int:
    return a + sum(rest.values())


def argument_by_name_twice(x: Tensor) -> Any:
    if x.sum() > 0:
        return x * _named(a=1, **{"a": 2})
    return x


def names_that_are_no_text(x: Tensor) -> Any:
    if x.sum() > 0:
        return x * _named(**{1: 2})
    return x


def no_mapping(x: Tensor) -> Any:
    try:
        return x, {**[(1, 2)]} if x.sum() > 0 else x
    except TypeError as error:
        return x, str(error)


@dataclass
class _Point:
    a: Any
    b: Any = 0


class _Incomplete:
    __match_args__ = ("a", "b")

    def __init__(self, a: Any) -> None:
        self.a = a


class _Number(int):
    pass


def pattern_with_a_missing_attribute(x: Tensor) -> Any:
    value = _Incomplete(x * 2) if x.sum() > 0 else _Point(x, 3)
    match value:
        case _Incomplete(a, b):
            return a, b
        case _Incomplete(a=a):
            return a, "a alone"
        case _Point(a, b):
            return a, b
    return x


def names_of_a_failed_pattern(x: Tensor) -> Any:
    a = "before"
    value = (1, 2) if x.sum() > 0 else (3, 4)
    match value:
        case (a, 5):
            return x, a
        case (1, b) | (b, 4) if x[0] > 2:
            return x, a, b
    return x, a


def what_is_a_sequence(x: Tensor) -> Any:
    found = []
    values = [bytearray(b"ab"), b"ab", "ab", [1, 2], (1, 2), range(2), {1: 2}]
    for value in values if x.sum() > 0 else values[::-1]:
        match value:
            case [_, _]:
                found.append(type(value).__name__)
            case {**rest}:
                found.append(rest)
    return x, found


def pattern_of_a_number_made_from_int(x: Tensor) -> Any:
    value = _Number(3) if x.sum() > 0 else True
    match value:
        case bool(flag):
            return x, flag
        case _Number(number):
            return x, number + 1
    return x


def too_many_parts(x: Tensor) -> Any:
    value = _Point(1) if x.sum() > 0 else 2
    match value:
        case _Point(a, b, c):
            return x, a
    return x


def _many(a, b=2, /, c=3, *rest, d, e=5, **more):
    return (a, b, c, rest, d, e, more)


def arguments_of_every_kind(x: Tensor) -> Any:
    function = _many if x.sum() > 0 else _many
    return (
        function(x, d=1) if x[0] > 2 else function(x, 1, 2, 3, 4, d=5, b=6, f=7),
        function(x, *(1, 2), **{"d": 3, "a": 4}) if x.sum() > 0 else 0,
    )


def arguments_that_do_not_fit(x: Tensor) -> Any:
    messages = []
    for args, kwargs in (((), {}), ((1,), {}), ((1, 2), {"d": 1, "c": 2}), ((1, 2, 3), {"d": 1, "c": 2})):
        try:
            messages.append(_many(*args, **kwargs) if x.sum() > 0 else _decides(*args, **kwargs, x=x))
        except TypeError as error:
            messages.append(str(error))
    return x, messages


def _decides(a, b=2, *, x):
    return (a, b) if x[0] > -2 else b


class _Counted(Sequence):  # type: ignore[type-arg]
    """A sequence that tells what it was asked for."""

    def __init__(self, length, asked):
        self.length, self.asked = length, asked

    def __len__(self):
        self.asked.append("length")
        return self.length

    def __getitem__(self, place):
        self.asked.append(place)
        if place >= self.length:
            raise IndexError
        return place


def _asked_by_patterns(sequence):
    for length in (0, 1, 2, 4):
        for case in range(5):
            asked: list[Any] = []
            match (case, sequence(length, asked)):
                case (0, [*_]):
                    asked.append("all")
                case (1, [_, *_]):
                    asked.append("one at least")
                case (2, [first, *_, last]):
                    asked.append((first, last))
                case (3, [first, *rest]):
                    asked.append((first, rest))
                case (4, [_, 1]):
                    asked.append("ends with 1")
            yield asked


def what_patterns_ask_of_a_sequence(x: Tensor) -> Any:
    sequence = _Counted if x.sum() > 0 else lambda length, asked: [*range(length)]
    return x, list(_asked_by_patterns(sequence))


def shared_variable_is_deleted_twice(x: Tensor) -> Any:
    y = 1

    def read() -> int:
        return y

    if x.sum() > 0:
        del y
    try:
        del y
    except NameError as error:
        return str(error), type(error).__name__
    return x
