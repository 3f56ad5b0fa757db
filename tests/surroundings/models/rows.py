"""Parts of the model's tensors at places of the input, written behind a decision; and tensors with a second holder."""

import copy
import functools
from typing import Any

import torch
from torch import Tensor, nn


class _Rows(nn.Module):
    rows: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(2, 2))


class RowBehindADecision(_Rows):
    def forward(self, x: Tensor) -> Tensor:
        row = self.rows[x.argmax()]
        if x.sum() > 0:
            row.add_(x)
        return self.rows.clone()


class RowInAHelper(_Rows):
    def write(self, row: Tensor, x: Tensor) -> None:
        if x.sum() > 0:
            row.mul_(2).add_(x)

    def forward(self, x: Tensor) -> Tensor:
        self.write(self.rows[int(x[0] > 0)], x)
        self.write(self.rows.t()[0], x)
        return self.rows.clone()


class RowOfTheSameType(_Rows):
    def forward(self, x: Tensor) -> Tensor:
        row = self.rows[0].type_as(x)
        if x.sum() > 0:
            row.add_(x)
        return self.rows.clone()


class RowOfAWeight(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        nn.init.ones_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor) -> Any:
        row = self.linear.weight.data[int(x[0] > 0)]
        if x.sum() > 0:
            row.mul_(0.5)
        return self.linear(x)


class RowThatIsRead(_Rows):
    def forward(self, x: Tensor) -> Tensor:
        row = self.rows[x.argmax()]
        if x.sum() > 0:
            row = row + x
        return row


class _Replaced(nn.Module):
    """The first value of an attribute is written, or the attribute gets another one; something else has it, too."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.zeros(2)

    def step(self, x: Tensor) -> None:
        """Change or replace it."""
        if x.sum() > 0:
            self.hidden.add_(x)
        else:
            self.hidden = torch.ones(2)


class ReplacedAndHeldByATuple(_Replaced):
    refused = "DY006"

    def __init__(self) -> None:
        super().__init__()
        self.first = (self.hidden,)

    def forward(self, x: Tensor) -> Tensor:
        self.step(x)
        return self.first[0].clone()


_ZERO = torch.zeros(2)


class ReplacedAndHeldByAModule(_Replaced):
    refused = "DY006"

    def __init__(self) -> None:
        super().__init__()
        self.hidden = _ZERO

    def forward(self, x: Tensor) -> Tensor:
        self.step(x)
        return self.hidden.clone()


class ReplacedAndHeldByNobodyElse(_Replaced):
    def forward(self, x: Tensor) -> Tensor:
        self.step(x)
        return self.hidden.clone()


@functools.lru_cache
def _table(size: int) -> Tensor:
    return torch.zeros(size)


class HeldByACache(nn.Module):
    refused = "DY007"
    table: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", _table(2))

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.table.add_(x)
        return _table(2) * 2


class CopiedWithItsMemory(_Rows):
    refused = "DY006"

    def forward(self, x: Tensor) -> Tensor:
        other = copy.copy(self.rows)
        if x.sum() > 0:
            other.add_(1)
        return self.rows.clone()
