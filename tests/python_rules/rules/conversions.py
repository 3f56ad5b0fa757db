"""Builtins make exact numbers of what special methods give, also where these decide."""

import collections
import enum
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor


class _Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class _Precise(float):
    pass


class _Key:
    def __hash__(self) -> int:
        return 2**62

    def __lt__(self, x: Tensor) -> bool:
        return bool(x.sum() > 0)


class _Pair(collections.namedtuple("_Pair", ("first", "second"))):
    __slots__ = ()

    def __call__(self, x: Tensor) -> int:
        return 1 if x.sum() > 0 else 2


@dataclass(frozen=True)
class _Frozen:
    number: int
    text: str

    def __sub__(self, x: Tensor) -> int:
        return 1 if x.sum() > 0 else 2


class _Decides:
    """Its special methods decide, and give what is not of the plain class."""

    def __init__(self, x: Tensor) -> None:
        self.x = x

    def __hash__(self) -> int:
        return 2**62 + 3 if self.x.sum() > 0 else -1

    def __len__(self) -> int:
        return bool(self.x.sum() > 0)

    def __int__(self) -> int:
        return True if self.x[0] > 0 else _Level.HIGH

    def __index__(self) -> int:
        return _Level.LOW if self.x[0] > 0 else 2

    def __float__(self) -> float:
        return np.float64(1.5) if self.x[0] > 0 else _Precise(0.25)


class _Counts:
    """Its special methods give numbers of the input."""

    def __init__(self, x: Tensor) -> None:
        self.x = x

    def __len__(self) -> int:
        count: int = (self.x > 0).sum().item()
        return count

    def __int__(self) -> int:
        return len(self) + 1

    __index__ = __int__

    def __float__(self) -> float:
        return self.x.sum().item()


def hashes(x: Tensor) -> Any:
    key, pair, frozen = _Key(), _Pair(1, 2), _Frozen(3, "three")
    decided = (key < x, pair(x), frozen - x)
    same = hash(pair) == hash((1, 2)), hash(frozen) == hash((3, "three"))
    return hash(key), same, {hash(pair): "found"}.get(hash((1, 2))), hash(key) == key.__hash__(), decided


def a_hash_that_decides(x: Tensor) -> Any:
    return hash(_Decides(x))


def lengths(x: Tensor) -> Any:
    count = len(_Decides(x))
    return count, type(count) is int, torch.full((2,), count)


def whole_numbers(x: Tensor) -> Any:
    found = int(_Decides(x)), operator.index(_Decides(x))
    return found, [type(number) is int for number in found]


def real_numbers(x: Tensor) -> Any:
    number = float(_Decides(x))
    return number, type(number) is float, round(number)


def division_by_a_converted_number(x: Tensor) -> Any:
    try:
        return 1 / (float(_Decides(x)) - 1.5)
    except ZeroDivisionError:
        return "no number"


def numbers_of_the_input(x: Tensor) -> Any:
    counts = _Counts(x)
    return len(counts), int(counts), operator.index(counts), float(counts)


def words_about_a_pole(x: Tensor) -> Any:
    try:
        return (x[0] - x[0]).item() ** -1
    except ZeroDivisionError as error:
        return str(error)


class _Unformatted:
    def __init__(self, x: Tensor) -> None:
        self.x = x

    def __format__(self, style: str) -> Any:
        return 5 if self.x.sum() > 0 else "text"


def words_about_a_format(x: Tensor) -> Any:
    try:
        return f"{_Unformatted(x)}"
    except TypeError as error:
        return str(error)


def whole_numbers_in_place(x: Tensor) -> Any:
    counts = (x * 4).long()
    if x.sum() > 0:
        counts //= 3
        counts <<= 1
    counts >>= 1
    return counts
