"""Keys whose own `__hash__` and `__eq__` write: only the model's own questions count, and compiling asks none."""

import pytest
import torch
from torch import Tensor, nn

import dycl


class _Counting:
    """A key that counts how often it is asked."""

    def __init__(self, value: int) -> None:
        self.value = value
        self.asked = 0

    def __hash__(self) -> int:
        self.asked += 1
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        self.asked += 100
        return isinstance(other, _Counting) and self.value == other.value


class _Asking(nn.Module):
    """A key is looked for on one path."""

    def __init__(self) -> None:
        super().__init__()
        self.held, self.asking = _Counting(1), _Counting(1)
        self.table = {self.held: 2}

    def forward(self, x: Tensor) -> tuple[Tensor, int, int]:
        if x.sum() > 0:
            x = x * self.table[self.asking]
        return x, self.held.asked, self.asking.asked


class _Copied(_Asking):
    """A dict with such a key is part of a state."""

    def forward(self, x: Tensor) -> tuple[Tensor, int, int]:
        table = {self.asking: x}
        if x.sum() > 0:
            x = x * len(table)
        return x + len(table), self.held.asked, self.asking.asked


def test_only_the_model_asks() -> None:
    model = _Asking().eval()
    program = dycl.compile(model, torch.ones(2))
    assert (model.held.asked, model.asking.asked) == (1, 0)
    for sign in (-1, 1, -1, 1):
        assert program(sign * torch.ones(2))[1:] == model(sign * torch.ones(2))[1:]


def test_copying_such_a_key_is_refused() -> None:
    model = _Copied().eval()
    with pytest.raises(dycl.CompileError, match=r"DY009.*`_Counting.__hash__` may change something"):
        dycl.compile(model, torch.ones(2))
    assert (model.held.asked, model.asking.asked) == (1, 0)
