"""Dimensions and element types that PyTorch does not take are its errors where the model sees them, or refused."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import dycl
from tests.comparison import Calls, CallsWithTwo

RANKS: dict[str, Callable[[Tensor], object]] = {
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(-2),
    "sort": lambda x: x.sort(1).values,
    "sort of a number": lambda x: x.sum().sort(1).values,
    "argsort": lambda x: x.argsort(1),
    "squeeze": lambda x: x.squeeze(1),
    "twice the same": lambda x: x.squeeze((0, 0)),
    "norm over twice the same": lambda x: torch.linalg.vector_norm(x, dim=(0, 0)),
    "cummax": lambda x: x.cummax(1).values,
    "cat": lambda x: torch.cat([x, x], 1),
    "cat of rows and a column": lambda x: torch.cat([x.view(-1, 1), x]),
    "split": lambda x: x.split(0)[0],
    "tensor_split": lambda x: x.tensor_split(0),
    "equal": lambda x: torch.equal(x, float(x[0])),  # type: ignore[arg-type]
    "view": lambda x: x.view(-1, -1),
    "masked_select": lambda x: x.masked_select(x[:3] > 0),
    "index_select": lambda x: x.index_select(0, x.argmax().view(1, 1)),
    "index_select of a number": lambda x: x.sum().index_select(0, torch.tensor([0, 0])),
    "index_add to a number": lambda x: x.sum().index_add(0, torch.tensor([0]), x[:1]),
    "index_add of a number": lambda x: x.index_add(0, x.argmax(), x.sum()),
    "bucketize": lambda x: torch.bucketize(x, x.view(2, 2)),
    "searchsorted": lambda x: torch.searchsorted(x.mean(), x.mean()),
    "complex": lambda x: torch.complex(x, x.double()),
}


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("name", RANKS)
def test_dimensions_that_pytorch_refuses(name: str, is_open: bool) -> None:
    def positive(x: Tensor) -> object:
        try:
            return RANKS[name](x) if x.sum() > 0 else x
        except (RuntimeError, IndexError, TypeError) as error:
            return type(error).__name__

    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    sizes = {"x": {0: torch.export.Dim("n")}} if is_open else None
    try:
        program = dycl.compile(Calls(positive).eval(), x, dynamic_shapes=sizes)
    except dycl.CompileError as error:
        assert is_open and error.problems[0].identifier in ("DY004", "DY008")
    else:
        assert (program(x), program(-x).tolist()) == (positive(x), [-1.0, -2.0, -3.0, -4.0])


def test_a_number_without_dimensions_is_moved() -> None:
    program = dycl.compile(Calls(lambda x: x.mean().movedim(0, -1) if x[0] > 0 else x).eval(), torch.ones(3))
    assert program(torch.ones(3)).item() == 1.0


MIXED: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "linear": F.linear,
    "matmul": lambda x, y: x @ y.T,
    "layer_norm": lambda x, y: F.layer_norm(x, (2,), y[0]),
    "batch_norm": lambda x, y: F.batch_norm(x, y[0], y[0].abs()),
    "conv1d": lambda x, y: F.conv1d(x.reshape(1, 3, 2), y.reshape(2, 3, 1)),
    "einsum": lambda x, y: torch.einsum("ij,kj->ik", x, y),
    "scatter": lambda x, y: x.scatter(0, torch.tensor([[0, 1]]), y),
    "in place": lambda x, y: x.long().mul_(y),
    "in place of a number": lambda x, y: x.long().add_(1.5),
    "greatest of nothing": lambda x, y: x[:0].max(),
    "greatest along nothing": lambda x, y: x[:0].max(0),
}


@pytest.mark.parametrize("name", MIXED)
def test_what_pytorch_never_computes_is_refused(name: str) -> None:
    x = torch.arange(6.0).reshape(3, 2)
    with pytest.raises((RuntimeError, IndexError)):
        MIXED[name](x, x.double())
    with pytest.raises(dycl.CompileError, match="DY010"):
        dycl.compile(CallsWithTwo(MIXED[name]).eval(), (x, x.double()))


UNTYPED: dict[str, Callable[[Tensor], Any]] = {
    "difference of flags": lambda x: 1 - (x > 0),
    "place of a flag": lambda x: (x > 0).argmax(),
    "absolute flags": lambda x: (x > 0).abs(),
    "product of flags": lambda x: (x > 0) @ (x > 0).T,
    "greatest flags": lambda x: (x > 0).topk(1),
    "windows of whole numbers": lambda x: F.max_pool1d(x.long(), 2),
    "shrunk flags": lambda x: F.hardshrink(x > 0),
    "variance of whole numbers": lambda x: x.long().var(),
    "divisor of floats": lambda x: torch.gcd(x, x),
    "narrow index": lambda x: x.index_select(0, x[0].to(torch.uint8)),
    "narrow classes": lambda x: F.one_hot(x.int(), 5),
    "classes that are flags": lambda x: F.one_hot(x > 0),
    "many flags": lambda x: 1 - (x.repeat(200, 200) > 0),
}


@pytest.mark.parametrize("name", UNTYPED)
def test_element_types_that_pytorch_does_not_compute_are_refused(name: str) -> None:
    x = torch.arange(6.0).reshape(3, 2)
    with pytest.raises(RuntimeError) as eager:
        UNTYPED[name](x)
    with pytest.raises(dycl.CompileError) as refused:
        dycl.compile(Calls(UNTYPED[name]).eval(), (x,))
    assert f"the model raises {type(eager.value).__name__}: {str(eager.value)[:40]}" in str(refused.value)


def test_an_element_type_that_is_not_computed_can_be_caught() -> None:
    def turned(x: Tensor) -> Tensor:
        mask = x > 0
        try:
            return 1 - mask
        except RuntimeError:
            return ~mask if x.sum() > 0 else mask

    program = dycl.compile(Calls(turned).eval(), (torch.ones(3),))
    for x in (torch.ones(3), -torch.ones(3)):
        torch.testing.assert_close(program(x), turned(x))


def _too_many(x: Tensor) -> Tensor:
    y = x.clone()
    y[torch.tensor([0, 1])] = x
    return y


def _masked(x: Tensor) -> Tensor:
    y = x.repeat(3, 1)
    y[[0, 1], torch.tensor([True, False, True])] = 1.0
    return y


def _masked_unread(x: Tensor) -> Tensor:
    y = x.repeat(3, 1)
    y[torch.arange(3), y[:, 0] > 0]
    return y


@pytest.mark.parametrize("write", [_too_many, _masked, _masked_unread, lambda x: x.index_put((x.long()[:2],), x)])
def test_indices_that_do_not_fit_are_errors_where_they_are_met(write: Callable[[Tensor], Tensor]) -> None:
    def caught(x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x
        try:
            return write(x)
        except (RuntimeError, IndexError) as error:
            return x - (1 if isinstance(error, IndexError) else 2)

    program = dycl.compile(Calls(caught).eval(), (torch.ones(4),))
    for x in (torch.ones(4), -torch.ones(4)):
        torch.testing.assert_close(program(x), caught(x))
