"""Operators of the user's own classes, with decisions inside."""

import functools
from typing import Any

import torch
from torch import Tensor


class _Amount:
    def __init__(self, value: Any) -> None:
        self.value = value

    def _made(self, value: Any) -> "_Amount":
        return type(self)(value)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, _Amount):
            return NotImplemented
        return self._made(self.value + other.value if self.value.sum() > 0 else other.value)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, _Amount):
            return NotImplemented
        return self._made(self.value * other if self.value.sum() > 0 else self.value)

    def __rmul__(self, other: Any) -> Any:
        return self._made(self.value * other + 1 if self.value.sum() > 0 else self.value)

    def __rsub__(self, other: Any) -> Any:
        return self._made(other - self.value if self.value.sum() > 0 else self.value)

    def __iadd__(self, other: Any) -> Any:
        if self.value.sum() > 0:
            self.value = self.value + other
            return self
        return NotImplemented

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, _Amount):
            return NotImplemented
        return bool(self.value.sum() == other.value.sum())

    def __lt__(self, other: Any) -> Any:
        return bool(self.value.sum() < (other.value.sum() if isinstance(other, _Amount) else other))

    def __neg__(self) -> Any:
        return self._made(-self.value) if self.value.sum() > 0 else self

    def __bool__(self) -> bool:
        return bool(self.value.sum() > 0)

    def __len__(self) -> int:
        return 2 if self.value.sum() > 0 else 1

    def __getitem__(self, index: Any) -> Any:
        return self.value[index] if self.value.sum() > 0 else index

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.value.sum() > 0:
            self.value = torch.cat([self.value[:index], value.reshape(1), self.value[index + 1 :]])

    def __delitem__(self, index: Any) -> None:
        self.value = self.value * 0 if self.value.sum() > 0 else self.value

    def __contains__(self, item: Any) -> bool:
        return item == 1 if self.value.sum() > 0 else item == 2

    def __int__(self) -> int:
        return 5 if self.value.sum() > 0 else 6

    def __float__(self) -> float:
        return 0.5 if self.value.sum() > 0 else 0.25

    def __index__(self) -> int:
        return 1 if self.value.sum() > 0 else 0

    def __abs__(self) -> Any:
        return self.value if self.value.sum() > 0 else -self.value

    def __round__(self, digits: Any = None) -> Any:
        return (self.value, digits) if self.value.sum() > 0 else digits

    def __str__(self) -> str:
        return "positive" if self.value.sum() > 0 else "negative"

    def __format__(self, style: str) -> str:
        return f"<{style}>" if self.value.sum() > 0 else "<>"

    def __hash__(self) -> int:
        return 7 if self.value.sum() > 0 else 8

    def __call__(self, by: Any) -> Any:
        return self.value * by if self.value.sum() > 0 else by

    def __enter__(self) -> Any:
        return self.value if self.value.sum() > 0 else None

    def __exit__(self, *error: Any) -> bool:
        return bool(self.value.sum() > 0)

    def __reversed__(self) -> Any:
        return [3, 2, 1] if self.value.sum() > 0 else [1]


class _Special(_Amount):
    def __radd__(self, other: Any) -> Any:
        return self._made(self.value * 100 if self.value.sum() > 0 else other.value)

    def __gt__(self, other: Any) -> Any:
        return "asked first" if self.value.sum() > 0 else "asked first too"


def added(x: Tensor) -> Any:
    return (_Amount(x) + _Amount(x * 2)).value


def added_to_something_else(x: Tensor) -> Any:
    try:
        return (_Amount(x) + 1).value
    except TypeError as error:
        return x, str(error)


def asked_first_because_it_is_more_special(x: Tensor) -> Any:
    return (_Amount(x) + _Special(x)).value, _Amount(x) < _Special(x)


def reflected(x: Tensor) -> Any:
    return (3 * _Amount(x)).value, (5 - _Amount(x)).value, (_Amount(x) * 3).value


def two_that_will_not(x: Tensor) -> Any:
    try:
        return _Amount(x) * _Amount(x)
    except TypeError as error:
        return x, str(error)


def repeated_by_it(x: Tensor) -> Any:
    return [1, 2] * _Amount(x).__index__(), "ab"[_Amount(x).__index__()]


def in_place(x: Tensor) -> Any:
    amount = _Amount(x)
    try:
        amount += 1
    except TypeError as error:
        return x, str(error)
    return amount.value


def compared(x: Tensor) -> Any:
    one, other = _Amount(x), _Amount(-x)
    return x, one == other, one != other, one < other, one > other, one == 3, one != 3


def one_operand(x: Tensor) -> Any:
    amount = _Amount(x)
    return (-amount).value, abs(amount), round(amount, 2), round(amount), not amount


def numbers(x: Tensor) -> Any:
    amount = _Amount(x)
    return x, int(amount), float(amount), len(amount), hash(amount)


def texts(x: Tensor) -> Any:
    amount = _Amount(x)
    return x, str(amount), f"{amount:>3} {amount!s}", format(amount, "x")


def container(x: Tensor) -> Any:
    amount = _Amount(x)
    before = amount[0], 1 in amount, 2 not in amount
    amount[1] = x.sum()
    kept = amount.value
    del amount[0]
    return before, kept, amount.value, list(reversed(amount))


def called_and_entered(x: Tensor) -> Any:
    amount = _Amount(x)
    try:
        with amount as value:
            raise ValueError("inside")
    except ValueError as error:
        return x, str(error), amount(3)
    return value, amount(3)


def as_conditions(x: Tensor) -> Any:
    amount, other = _Amount(x), _Amount(-x)
    chosen = amount or other
    return chosen.value, 1 if amount and not other else 2


@functools.total_ordering
class _Ordered:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> Any:
        return bool(self.value.sum() == other.value.sum()) if isinstance(other, _Ordered) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return bool(self.value.sum() < other.value.sum())


def total_order(x: Tensor) -> Any:
    one, other = _Ordered(x), _Ordered(-x)
    ordered = sorted([one, other, _Ordered(x * 0)])
    return [item.value for item in ordered], one >= other, one <= other, max(one, other).value


class _Scaled:
    def __init__(self, value: Tensor) -> None:
        self.value = value

    def __rmul__(self, other: Any) -> Any:
        return other * self.value if self.value.sum() > 0 else self.value

    def __radd__(self, other: Any) -> Any:
        return (other, 1) if self.value[0] > 0 else (other, 2)

    def __gt__(self, other: Any) -> Any:
        return bool(self.value[0] > other)


def number_of_the_input_on_the_left(x: Tensor) -> Any:
    number, scaled = x[0].item(), _Scaled(x)
    return number * scaled, int(number) + scaled, number < scaled, sum([int(number), scaled])  # type: ignore[list-item]


def number_on_the_left_is_tried(x: Tensor) -> Any:
    if x[1] > 5:
        return x
    try:
        result = int(x[0]) * _Scaled(x)
    except:  # noqa: E722
        result = "failed"
    return result
