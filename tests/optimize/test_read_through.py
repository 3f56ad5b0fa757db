"""Pieces of tensors are read from where they came."""

from collections import Counter

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor, nn

import dycl
from dycl.backends import find_compiler
from dycl.compiler import called
from dycl.optimize.pipeline import optimize
from dycl.rewrite import rewrite
from tests.comparison import Calls

WIDTH = 8


def operations(model: nn.Module, *inputs: Tensor) -> Counter[str]:
    """How often each operation stands in the optimised program."""
    compiler = find_compiler("onnxruntime")
    module = optimize(rewrite(model.eval(), called(model, inputs, None, None, "forward"), compiler.supports).module)
    return Counter(operation.target for net in module.subnets.values() for operation in net.graph.operations)


@pytest.mark.parametrize("kind", [nn.LSTMCell, nn.GRUCell])
def test_recurrent_cells_write_to_no_tensor(kind: type[nn.Module]) -> None:
    found = operations(kind(3, 4), torch.randn(1, 3))
    assert not any("scatter" in name for name in found)
    assert sum(count for name, count in found.items() if "split" in name or "chunk" in name) <= 2


def test_a_piece_of_what_was_written_is_read_from_it() -> None:
    def function(x: Tensor) -> Tensor:
        y = x.clone()
        y[:, 2:6] = x[:, :4] * 2
        return y[:, 3:5] + y[:, 6:]

    assert not any("scatter" in name for name in operations(Calls(function), torch.randn(2, WIDTH)))


def test_a_piece_that_was_written_in_part_is_read_as_it_is() -> None:
    def function(x: Tensor) -> Tensor:
        y = x.clone()
        y[:, 2:6] = 1.0
        return y[:, 4:8]

    assert operations(Calls(function), torch.randn(2, WIDTH))["aten.slice_scatter.default"] == 1


def test_what_is_returned_is_its_own_tensor() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x.clone()
        y[:, :4] = x[:, 4:]
        return y[:, :4], y[:, :4]

    x = torch.randn(2, WIDTH)
    first, second = dycl.compile(Calls(function).eval(), x)(x)
    torch.testing.assert_close(first, x[:, 4:])
    torch.testing.assert_close(second, x[:, 4:])


_bounds = st.tuples(st.integers(-WIDTH, WIDTH), st.integers(-WIDTH, WIDTH))
_step = st.tuples(st.booleans(), st.integers(0, 1), _bounds)


@settings(max_examples=40, deadline=None)
@given(st.lists(_step, min_size=1, max_size=8))
def test_writes_and_reads_in_any_order(steps: list[tuple[bool, int, tuple[int, int]]]) -> None:
    def function(x: Tensor) -> tuple[Tensor, ...]:
        y = x.clone()
        read: list[Tensor] = []
        for writes, axis, (start, stop) in steps:
            piece = y[start:stop] if axis == 0 else y[:, start:stop]
            if writes:
                piece.mul_(2).add_(len(read) + 1)
            else:
                read.append(piece.sum())
                read.extend(part.sum() for part in y.chunk(4, axis))
        return (*read, y)

    x = torch.randn(WIDTH, WIDTH)
    torch.testing.assert_close(dycl.compile(Calls(function).eval(), x)(x), function(x))
