"""`round(number, digits)` of a float is Python's, which rounds the decimal number that the float stands for."""

import random

import pytest
import torch

import dycl
from tests.python_rules.rule import Model


def _numbers(digits: int) -> list[float]:
    source = random.Random(digits)
    halves = [(source.randrange(-4000, 4000) + 0.5) / 10**digits for _ in range(40)]
    fives = [source.randrange(-2000, 2000) * 5 / 10 ** (digits + 1) for _ in range(40)]
    large = [source.uniform(-1e16, 1e16) for _ in range(40)]
    any_size = [source.choice((1, -1)) * 10.0 ** source.uniform(-30, 30) for _ in range(40)]
    return [0.15, 0.25, 2.675, 1e300, *halves, *fives, *large, *any_size]


@pytest.mark.parametrize("digits", [0, 1, 2, 5, 15, 16, 22])
def test_rounded(digits: int) -> None:
    program = dycl.compile(Model(lambda x: round(x[0].item(), digits)).eval(), torch.tensor([0.5], dtype=torch.float64))
    for number in _numbers(digits):
        assert program(torch.tensor([number], dtype=torch.float64)) == round(number, digits)
