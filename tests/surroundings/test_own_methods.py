"""Nobody but the program calls the methods that its containers have in the place of Python's own."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

import dycl


class _CountsReads(list[float]):
    reads = 0

    def __len__(self) -> int:
        self.reads += 1
        return list.__len__(self)

    def __iter__(self) -> Any:
        self.reads += 1
        return list.__iter__(self)


class _Counts(tuple[int, ...]):
    reads: ClassVar[list[int]] = [0]

    def __len__(self) -> int:
        self.reads[0] += 1
        return tuple.__len__(self)


class _Reads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.items = _CountsReads([2.0, 3.0])
        self.numbers = _Counts((1, 2))

    def forward(self, x: Tensor) -> Any:
        self.items.reads = self.numbers.reads[0] = 0
        if x.sum() > 0:
            for item in self.items:
                x = x * item
            return x, self.items.reads, len(self.numbers), self.numbers.reads[0]
        return x, self.items.reads, self.numbers.reads[0]


def test_methods_of_containers_are_called_by_the_program_alone() -> None:
    model, ones = _Reads().eval(), torch.ones(2)
    program = dycl.compile(model, ones)
    assert (model.items.reads, model.numbers.reads) == (0, [0])
    for x in (ones, -ones, ones):
        found, expected = program(x), _Reads()(x)
        assert torch.equal(found[0], expected[0])
        assert found[1:] == expected[1:]
