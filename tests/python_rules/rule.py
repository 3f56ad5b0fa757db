"""A model for a rule of Python's, and how it is compared."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import dycl
from tests.comparison import assert_same

Forward = Callable[[Tensor], Any]
INPUTS = (torch.ones(2), -torch.ones(2), torch.tensor([3.0, -1.0]))


class Model(nn.Module):
    """A module around a plain function."""

    def __init__(self, forward: Forward) -> None:
        super().__init__()
        self.function = forward

    def forward(self, x: Tensor) -> Any:
        return self.function(x)


def assert_follows(forward: Forward) -> None:
    """The compiled program gives what eager PyTorch gives, errors included, on every input."""
    model = Model(forward).eval()
    program = dycl.compile(model, INPUTS[0])
    for x in INPUTS:
        try:
            expected = model(x)
        except Exception as error:
            with pytest.raises(type(error)) as raised:
                program(x)
            assert str(raised.value) == str(error)
        else:
            assert_same(expected, program(x))


def refused(identifier: str) -> Callable[[Forward], Forward]:
    """Mark a program that is refused for this reason: DyCL cannot follow the rule, and says so."""

    def mark(forward: Forward) -> Forward:
        forward.refused = identifier  # type: ignore[attr-defined]
        return forward

    return mark


def assert_refuses(forward: Forward, identifier: str) -> None:
    """The model is refused for this reason."""
    with pytest.raises(dycl.CompileError, match=identifier):
        dycl.compile(Model(forward).eval(), INPUTS[0])
