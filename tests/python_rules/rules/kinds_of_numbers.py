"""Ranges that the input bounds, members of an enumeration, numbers of other classes."""

import enum
from typing import Any

import torch
from torch import Tensor

from tests.python_rules.rule import refused


class _Level(enum.IntEnum):
    LOW = 1


class _Own(int):
    def __add__(self, other: Any) -> Any:
        return 100


def truth_of_a_range(x: Tensor) -> Any:
    found = range(int(x[0]))
    return found[0] if found else None, not found, bool(found), bool(range(int(x[0]), -2, -1)), len(found or [7])


def equal_ranges(x: Tensor) -> Any:
    count = int(x[0])
    found = range(count)
    return (
        *(found == range(3), found != range(3), found in [range(1)], [range(3), range(0)].count(found)),
        *(range(0, count, 2) == range(0, count + 1, 2), range(count, count, 3) == range(0), found == 3),
    )


def members_of_an_enumeration(x: Tensor) -> Any:
    number = int(x[0])
    return (
        *(_Level.LOW == number, number == _Level.LOW, _Level.LOW + number, number - _Level.LOW, _Level.LOW < number),
        *(number in [_Level.LOW], {_Level.LOW: 3}.get(number, 0), number // _Level.LOW),
    )


def error_around_a_member(x: Tensor) -> Any:
    try:
        return _Level.LOW + int(x[0])
    except TypeError:
        return "TypeError"


@refused("DY002")
def complex_number(x: Tensor) -> Any:
    return int(x[0]) == 1 + 0j


def number_of_ones_own(x: Tensor) -> Any:
    return _Own(3) == int(x[0]), _Own(1) != int(x[0]), _Own(3) - int(x[0]), _Own(2) + int(x[0])


@refused("DY002")
def number_of_ones_own_behind(x: Tensor) -> Any:
    return int(x[0]) == _Own(3)


def _halved(x: Tensor) -> list[float]:
    found = [0.0]
    while x.sum() > 1:
        found.append(x.sum().item())
        x = x / 2
    return found


def pattern_of_unknown_length(x: Tensor) -> Any:
    match _halved(x):
        case []:
            return "nothing"
        case [first]:
            return "one", first
        case [first, second, *rest]:
            return "more", first, second, rest


def repeated_list_of_unknown_length(x: Tensor) -> Any:
    found = _halved(x)
    twice = found * 2
    found *= 2
    return twice, 3 * found, found * 0, type(found).__name__


def compared_list_of_unknown_length(x: Tensor) -> Any:
    try:
        return _halved(x) < [0.0, 5.0]
    except TypeError:
        return "TypeError"


@refused("DY011")
def tuple_of_unknown_length(x: Tensor) -> Any:
    return tuple(range(int(x[0])))


def number_in_a_matrix(x: Tensor) -> Any:
    rows = x.long().reshape(2, 1)
    return 3 in rows, x[0] + 0 in x, 0 in rows.sum(), 1.0 in x if x.sum() > 0 else None


def name_in_an_attribute_error(x: Tensor) -> Any:
    class Lazy:
        def __getattr__(self, name: str) -> Any:
            if x.sum() > 0:
                return 3
            raise AttributeError("no " + name)

    try:
        return Lazy().height
    except AttributeError as error:
        return error.name, error.__context__


def global_that_is_only_read(x: Tensor) -> Any:
    global _Level
    return _Level.LOW.value if x.sum() > 0 else 0


class _Stage(enum.Enum):
    FIRST = 0
    SECOND = 2


def truth_of_a_member(x: Tensor) -> Any:
    try:
        stage = _Stage(int(x.sum()))
    except ValueError:
        stage = None
    if stage:
        return stage.name
    return "none"


def whether_an_element_is_zero(x: Tensor) -> Any:
    count = 0
    for value in x:
        count += torch.is_nonzero(value + 1)
    flag = (x[0] * 2.5).is_nonzero()
    return count, flag is True, ("a", "b")[flag], x * torch.is_nonzero(x[1]), type(flag) is bool


def _growing(x: Tensor, items: list[int]) -> Any:
    for place in range(2):
        if x[place] < 0:
            raise ValueError(place)
        yield len(items)


def list_of_unknown_length_sees_what_a_generator_gives(x: Tensor) -> Any:
    items = x[x > 0].long().tolist()
    try:
        items.extend(_growing(x, items))
    except ValueError:
        items.append(-1)
    return items
