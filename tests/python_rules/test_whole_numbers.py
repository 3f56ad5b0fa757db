"""Whole numbers have 64 bits in a compiled program: it gives what Python gives, or stops with an `OverflowError`."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import dycl
from dycl.hcfg.nodes import Check
from tests.comparison import assert_same
from tests.python_rules.rule import Model

_LIMIT = 2**63
_LARGE = (3, -3, 2**20, 2**31, -(2**31), 2**32 - 1, 3037000499, 3037000500, 2**62, 2**63 - 1, -(2**63), -(2**62) - 1)


def _doubled_while_positive(x: Tensor) -> Any:
    n, y = int(x[0]), x[1]
    while y > 0:
        n *= 2**20
        y = y - 1
    return n


def _passed_on(x: Tensor) -> int:
    number, steps = int(x[0]), 0
    while steps < 2 and x[1] > 0:
        steps += 1
    return number


COMPUTED: dict[str, Callable[[Tensor], Any]] = {
    "cube": lambda x: int(x[0]) * int(x[0]) * int(x[0]),
    "product": lambda x: int(x[0]) * int(x[1]),
    "sum": lambda x: int(x[0]) + int(x[1]),
    "difference": lambda x: int(x[0]) - int(x[1]),
    "sum with a constant": lambda x: int(x[0]) + 2**62,
    "product with a constant": lambda x: int(x[0]) * 10**10,
    "quotient": lambda x: int(x[0]) // int(x[1]),
    "remainder": lambda x: int(x[0]) % int(x[1]),
    "quotient by a constant": lambda x: int(x[0]) // -1,
    "product in a loop": _doubled_while_positive,
    "plus one": lambda x: int(x[0]) + 1,
    "minus a flag": lambda x: int(x[0]) - True,
    "from a constant": lambda x: 5 - int(x[0]),
    "negated": lambda x: -int(x[0]),
    "size": lambda x: abs(int(x[0])),
    "turned round": lambda x: ~int(x[0]),
    "plus one behind a decision": lambda x: _passed_on(x) + 1,
    "summed up": lambda x: sum([int(x[0]), 1]),
}


_SECOND = {"product in a loop": (2, -1, 3, 1), "quotient": (-1, 1)}


@pytest.mark.parametrize("name", COMPUTED)
def test_what_does_not_fit_is_no_result(name: str) -> None:
    """A number that has wrapped is never given."""
    model = Model(COMPUTED[name]).eval()
    program = dycl.compile(model, torch.tensor([3, 2]))
    for first in _LARGE:
        for second in _SECOND.get(name, (*_LARGE, -1, 1)):
            x = torch.tensor([first, second])
            expected = model(x)
            if -_LIMIT <= expected < _LIMIT and _steps_fit(name, first):
                assert_same(expected, program(x))
            else:
                with pytest.raises(OverflowError, match="64 bits"):
                    program(x)


def _steps_fit(name: str, first: int) -> bool:
    return name != "cube" or first * first < _LIMIT


def _counted(x: Tensor) -> Any:
    steps = 0
    while x.sum() > 0:
        x = x - 1
        steps += 1
    return steps, x


BOUNDED: dict[str, Callable[[Tensor], Any]] = {
    "a counter": _counted,
    "numbers of true elements": lambda x: int((x > 0).sum()) * int((x > 1).sum()) + int(x.argmax()),
    "a remainder": lambda x: (int(x[0]) % 7) * 1000 - 5,
    "flags": lambda x: bool(x[0] > 0) + bool(x[1] > 0) * 3,
}


@pytest.mark.parametrize("name", BOUNDED)
def test_what_always_fits_needs_no_check(name: str) -> None:
    """Counters and bounded numbers cost nothing."""
    program = dycl.compile(Model(BOUNDED[name]).eval(), torch.ones(2))
    steps = [step for block in program.hcfg.blocks.values() for step in block.steps]
    assert not [step for step in steps if isinstance(step, Check) and "more than 64 bits" in step.message]


def test_no_model_catches_a_limit() -> None:
    def forward(x: torch.Tensor) -> object:
        try:
            return 2**62 * int(x[0]) // 2**60
        except Exception:
            return "failed"

    program = dycl.compile(Model(forward).eval(), torch.ones(2))
    assert program(torch.ones(2)) == forward(torch.ones(2)) == 4
    with pytest.raises(OverflowError, match="more than 64 bits"):
        program(torch.full((2,), 3.0))


def test_a_quotient_is_that_of_the_numbers_themselves() -> None:
    def forward(x: torch.Tensor) -> object:
        number, divisor = x.tolist()
        return "whole" if number / divisor == number // divisor else round(number / divisor)

    program = dycl.compile(Model(forward).eval(), torch.tensor([6, 3]))
    for numbers in ([6, 3], [7, 2], [2**53, 3], [2**60, 2**40], [-(2**62), 7]):
        assert program(torch.tensor(numbers)) == forward(torch.tensor(numbers))
    for numbers in ([2**53 + 1, 3], [6, 2**60 + 1]):
        with pytest.raises(OverflowError, match="more than 53 bits"):
            program(torch.tensor(numbers))
