"""Whether memory is shared, or an element lies in several places, may depend on sizes of the input."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import dycl
from tests.comparison import Calls, assert_same


def _turned(x: Tensor) -> Any:
    rows, columns = x.shape
    if x.sum() > 0:
        x = x * 2
    turned = (x * 1).t()
    row = turned.reshape(rows * columns)
    row -= 5
    return turned, row


def _heads(x: Tensor) -> Any:
    rows, columns = x.shape
    heads = (x * 1).view(rows, columns, 1).transpose(0, 1)
    if x.sum() > 0:
        heads = heads + 1
    joined = heads.reshape(rows, columns)
    joined -= 1
    return joined, heads


def _in_a_loop(x: Tensor) -> Any:
    rows, columns = x.shape
    turned, total = (x * 1).t(), x.sum()
    while total > 0:
        row = turned.reshape(columns * rows)
        row -= 1
        total = total - 4
    return turned


@pytest.mark.parametrize("block", [_turned, _heads, _in_a_loop], ids=lambda block: block.__name__)
def test_sizes_from_before_a_decision(block: Callable[[Tensor], Any]) -> None:
    sizes = {"x": {0: Dim("n", max=8), 1: Dim("m", max=8)}}
    try:
        program = dycl.compile(Calls(block).eval(), torch.ones(3, 2), dynamic_shapes=sizes)
    except dycl.CompileError as error:
        assert "DY006" in str(error)
        return
    for shape in ((3, 2), (1, 2), (2, 1), (1, 1), (4, 3)):
        for x in (torch.ones(shape), -torch.ones(shape)):
            assert_same(block(x.clone()), program(x.clone()))


def test_sizes_read_from_elements() -> None:
    def block(x: Tensor) -> Any:
        rows, columns = int(x[0]), int(x[1])
        made = torch.zeros(rows, columns)
        if x.sum() > 3:
            made = made + 1
        row = made.t().reshape(columns * rows)
        row += 1
        return made, row

    program = dycl.compile(Calls(block).eval(), torch.tensor([2.0, 3.0]))
    for sizes in ([2.0, 3.0], [1.0, 2.0], [2.0, 1.0], [1.0, 1.0]):
        assert_same(block(torch.tensor(sizes)), program(torch.tensor(sizes)))


def _through_another_view(x: Tensor) -> Any:
    turned = (x * 1).t()
    whole = turned.contiguous()
    if x.sum() > 0:
        turned.flatten().sub_(1)
    return turned, whole


def _broadcast(x: Tensor) -> Any:
    one, other = torch.broadcast_tensors(x, torch.zeros(2))
    if x.sum() > 0:
        other.add_(1)
    return one + other


def _expanded(x: Tensor) -> Any:
    rows = x[:1].expand(x.shape[0], 2)
    if x.sum() > 0:
        rows.add_(1)
    return rows


def _of_expanded(x: Tensor) -> Any:
    column = x[:1].expand(x.shape[0], 2).t()[0]
    if x.sum() > 0:
        column.add_(1)
    return column


_REFUSED = [_through_another_view, _broadcast, _expanded, _of_expanded]


@pytest.mark.parametrize("block", _REFUSED, ids=lambda block: block.__name__)
def test_a_write_that_sizes_decide_about_is_refused(block: Callable[[Tensor], Any]) -> None:
    with pytest.raises(dycl.CompileError, match="DY006"):
        dycl.compile(Calls(block).eval(), torch.ones(3, 2), dynamic_shapes={"x": {0: Dim("n", max=8)}})


def test_what_is_expanded_may_be_read() -> None:
    def block(x: Tensor) -> Any:
        rows = x[:1].expand(x.shape[0], 2)
        return rows * 2 if x.sum() > 0 else rows + 1

    program = dycl.compile(Calls(block).eval(), torch.ones(3, 2), dynamic_shapes={"x": {0: Dim("n", max=8)}})
    for count in (1, 2, 3):
        for x in (torch.ones(count, 2), -torch.ones(count, 2)):
            assert_same(block(x), program(x))


def _row(x: Tensor, how: str) -> Tensor:
    """The first row, if there is one, as often as there are rows: its memory, several times."""
    row = (x * 1)[:1]
    match how:
        case "expand":
            return row.expand(x.shape[0], 4)
        case "expand_as":
            return row.expand_as(x)
        case "broadcast_to":
            return torch.broadcast_to(row, x.shape)
        case _:
            found: Tensor = torch.broadcast_tensors(row, x)[0]
            return found


_ORDERED: dict[str, Callable[[Tensor], Tensor]] = {
    "reshape": lambda x: x.reshape(-1),
    "flatten": lambda x: x.flatten(),
    "contiguous": lambda x: x.contiguous(),
    "part": lambda x: x[:, :2].reshape(-1),
}


@pytest.mark.parametrize("how", ["expand", "expand_as", "broadcast_to", "broadcast_tensors"])
@pytest.mark.parametrize("order", _ORDERED)
@pytest.mark.parametrize("writes", [False, True], ids=["read", "written"])
def test_rows_that_may_be_one(how: str, order: str, writes: bool) -> None:
    def block(x: Tensor) -> Any:
        wide = _row(x, how)
        ordered = _ORDERED[order](wide)
        if writes:
            wide[0] = 5
        return ordered if x.sum() > 0 else -ordered

    try:
        program = dycl.compile(Calls(block).eval(), torch.ones(3, 4), dynamic_shapes={"x": {0: Dim("n", min=1, max=8)}})
    except dycl.CompileError as error:
        assert writes
        assert "DY006" in str(error)
        return
    for count in (1, 2, 3):
        for x in (torch.ones(count, 4), -torch.ones(count, 4)):
            assert_same(block(x.clone()), program(x.clone()))


@pytest.mark.parametrize("asks", (lambda x: x.view(-1), lambda x: x.is_contiguous(), lambda x: x.stride()))
def test_how_such_rows_lie_is_not_known(asks: Callable[[Tensor], Any]) -> None:
    def block(x: Tensor) -> Any:
        return asks(_row(x, "expand")), x if x.sum() > 0 else -x

    with pytest.raises(dycl.CompileError):
        dycl.compile(Calls(block).eval(), torch.ones(3, 4), dynamic_shapes={"x": {0: Dim("n", min=1, max=8)}})
