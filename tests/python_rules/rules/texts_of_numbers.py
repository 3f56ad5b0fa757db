"""Texts made of numbers of the input, what such numbers have, and limits that no model catches."""

import math
from typing import Any

from torch import Tensor

from tests.python_rules.rule import refused


def texts_compared_with_each_other(x: Tensor) -> Any:
    first, second = int(x[0]), int(x[1])
    text = f"layer{first % 2}"
    return (
        text == f"layer{second % 2}",
        text != f"layer{second % 2}",
        text == text,  # noqa: PLR0124
        str(first) == repr(first),
        str(first > 0) == str(second > 0),
    )


def texts_in_containers(x: Tensor) -> Any:
    first, second = int(x[0]), int(x[1])
    seen = [str(first % 3)]
    if str(second % 3) not in seen:
        seen.append("another one")
    return len(seen), [str(first)] == [str(second)], ["a", str(first)].count(str(second)), seen.index(str(first % 3))


def texts_that_tell_their_number(x: Tensor) -> Any:
    number = int(x[0])
    return f"{number:03d}" == "001", f"{number:+}" == "+1", "%d" % number == "1", f"{number:>3}" == "  1"


@refused("DY001")
def texts_with_separators(x: Tensor) -> Any:
    return f"{int(x[0]) * 1000:,}" == "1,000"


@refused("DY001")
def texts_to_another_base(x: Tensor) -> Any:
    return f"{int(x[0]) * 16:x}" == "10"


@refused("DY001")
def texts_of_truths_as_numbers(x: Tensor) -> Any:
    return "%d" % bool(x[0] > 0) == "1"


@refused("DY001")
def texts_in_order(x: Tensor) -> Any:
    try:
        return str(int(x[0])) < str(int(x[1]))
    except TypeError:
        return "no order"


@refused("DY001")
def texts_repeated(x: Tensor) -> Any:
    try:
        return str(int(x[0])) * 2 == "11"
    except TypeError:
        return "not repeated"


def what_numbers_have(x: Tensor) -> Any:
    number, real = int(x[0]), x[0].item()
    names = ("bit_length", "kind", "real", "hex", "__index__", "__module__")
    return [(hasattr(number, name), hasattr(real, name)) for name in names], getattr(number, "tensor", None)


def numbers_have_no_other_attributes(x: Tensor) -> Any:
    try:
        return int(x[0]).kind  # type: ignore[attr-defined]
    except AttributeError as error:
        return str(error)


def the_greatest_of_a_number(x: Tensor) -> Any:
    try:
        return max(int(x[0]))  # type: ignore[call-overload]
    except TypeError as error:
        return str(error)


class _Four:
    def __index__(self) -> int:
        return 4


def divisors_of_whole_numbers_alone(x: Tensor) -> Any:
    try:
        return math.gcd(int(x[0]) * 6, _Four()), math.lcm(int(x[0]), 1.5)  # type: ignore[arg-type]
    except TypeError as error:
        return str(error), math.gcd(int(x[0]) * 6, _Four())


@refused("DY013")
def results_nested_deeply(x: Tensor) -> Any:
    nested: Any = x
    for _ in range(33):
        nested = [nested]
    return nested
