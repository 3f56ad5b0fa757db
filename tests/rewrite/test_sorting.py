"""What stands in for `sorted` makes the comparisons that this Python makes, in their order."""

import math
import random
from typing import Any

import pytest

from dycl.rewrite.semantics.in_python.builtin_functions import in_order


class _Item:
    def __init__(self, value: float, made: list[tuple[int, int]]) -> None:
        self.value = value
        self.made = made

    def __lt__(self, other: Any) -> bool:
        self.made.append((id(self), id(other)))
        return bool(self.value < other.value)


@pytest.mark.parametrize("reverse", [False, True])
def test_the_comparisons_are_those_of_python(reverse: bool) -> None:
    draw = random.Random(0)
    for _ in range(3000):
        made: list[tuple[int, int]] = []
        choices = (math.nan, 0.0, 1.0, 2.0, 3.0, draw.random())
        items = [_Item(draw.choice(choices), made) for _ in range(draw.randrange(12))]
        expected = sorted(items, reverse=reverse)
        compared = list(made)
        made.clear()
        assert [id(item) for item in in_order(items, reverse=reverse)] == [id(item) for item in expected]
        assert made == compared
