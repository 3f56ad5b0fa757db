"""A test method as a model: it runs, and then a decision is made."""

from typing import Any

import torch
from torch import Tensor, nn

from tests.python_semantics.case import Case

INPUTS = (torch.ones(2), -torch.ones(2))


class Runs(nn.Module):
    """One test method with its fixtures, and a decision behind it."""

    def __init__(self, case: type[Case], method: str) -> None:
        super().__init__()
        self.case, self.method = case, method
        self.x: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        self.x = x
        case = self.case(self.method)
        case.setUp()
        getattr(case, self.method)()
        case.tearDown()
        case.doCleanups()
        if x.sum() > 0:
            return x + 1
        return x - 1


_running: list[Runs] = []


def runs(case: type[Case], method: str) -> Runs:
    """The model of a test method; `decide` decides on its input from here on."""
    _running[:] = [Runs(case, method).eval()]
    return _running[0]


def decide() -> Any:
    """A decision that only the input makes, after which the program goes on in the same way."""
    model = _running[0] if _running else None
    if model is None or model.x is None:
        return 0
    if model.x.sum() > 0:
        return 1
    return 2
