"""Indices and elements that PyTorch refuses, the program refuses too."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import dycl
from dycl.hcfg.nodes import Check
from tests.comparison import Calls, CallsWithTwo, outcome_of

Snippet = Callable[[Tensor, Tensor], Any]

INDEXED: dict[str, Snippet] = {
    "embedding": lambda x, i: F.embedding(i, x),
    "embedding_bag": lambda x, i: F.embedding_bag(i, x, torch.tensor([0])),
    "gather": lambda x, i: x.gather(0, i.reshape(1, 1)),
    "index_select": lambda x, i: x.index_select(0, i),
    "take": lambda x, i: x.take(i),
    "take_along_dim": lambda x, i: x.take_along_dim(i.reshape(1, 1), 0),
    "scatter": lambda x, i: x.scatter(0, i.reshape(1, 1), 1.0),
    "scatter in place": lambda x, i: (x + 1).scatter_(0, i.reshape(1, 1), x),
    "scatter_add": lambda x, i: x.scatter_add(0, i.reshape(1, 1), x),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i.reshape(1, 1), x, "amax"),
    "index_add": lambda x, i: x.index_add(0, i, x[:1]),
    "index_copy": lambda x, i: x.index_copy(0, i, x[:1]),
    "index_fill": lambda x, i: x.index_fill(0, i, 1.0),
    "index": lambda x, i: x[i],
    "two indices": lambda x, i: x[i, i * 0],
    "index_put": lambda x, i: x.index_put((i,), torch.tensor(1.0)),
    "put": lambda x, i: x.put(i, torch.ones(1)),
    "one_hot": lambda x, i: F.one_hot(i, 3),
    "one_hot of the greatest": lambda x, i: F.one_hot(i),
    "nll_loss": lambda x, i: F.nll_loss(x[:1], i),
    "cross_entropy": lambda x, i: F.cross_entropy(x[:1], i, reduction="none"),
    "ignored class": lambda x, i: F.cross_entropy(x[:1], i, ignore_index=-1),
    "bincount": lambda x, i: torch.bincount(i),
    "repeat_interleave": lambda x, i: torch.repeat_interleave(x, i, 0),
    "floor_divide": lambda x, i: 7 // (i + 1),
    "remainder": lambda x, i: torch.tensor([7]) % (i + 1),
    "fmod": lambda x, i: torch.fmod(torch.tensor([7]), i + 1),
    "div": lambda x, i: torch.div(torch.tensor([7]), i + 1, rounding_mode="trunc"),
}


@pytest.mark.parametrize("name", INDEXED)
@pytest.mark.filterwarnings("ignore")
def test_an_index_or_divisor_that_pytorch_refuses(name: str) -> None:
    snippet = INDEXED[name]
    x = torch.arange(6.0).reshape(3, 2)
    program = dycl.compile(CallsWithTwo(snippet).eval(), (x, torch.tensor([1])))
    for number in (0, 1, 2, -1, -3, -4, 3, 100, -100):
        index = torch.tensor([number])
        expected = outcome_of(snippet, x, index)
        found = outcome_of(program, x, index)
        if isinstance(expected, Tensor):
            torch.testing.assert_close(found, expected, equal_nan=True)
        else:
            assert found is expected, f"{name} of {number}"


_FACTORS, _PIVOTS = torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
OF_ELEMENTS: dict[str, Callable[[Tensor], Any]] = {
    "quantile": lambda x: torch.quantile(torch.arange(3.0), x),
    "nanquantile": lambda x: torch.nanquantile(torch.arange(3.0), x),
    "histc": lambda x: torch.histc(x, 3),
    "histogram": lambda x: torch.histogram(x, 3)[0],
    "histogramdd": lambda x: torch.histogramdd(torch.stack([x, x], 1), [2, 2])[0],
    "sorter": lambda x: torch.searchsorted(torch.tensor([1.0, 2.0]), x, sorter=x.nan_to_num().long()),
    "lengths": lambda x: torch.segment_reduce(torch.ones(2), "sum", lengths=x.nan_to_num().long()),
    "offsets": lambda x: torch.segment_reduce(
        torch.ones(2), "sum", offsets=F.pad(x.nan_to_num().long().clamp(max=2), (1, 0)), axis=0
    ),
    "pivots": lambda x: torch.lu_unpack(_FACTORS, x.nan_to_num().int())[0],
    "pivots of a solution": lambda x: torch.linalg.lu_solve(_FACTORS, x.nan_to_num().int(), torch.ones(2, 1)),
    "inverse of a factor": lambda x: torch.cholesky_inverse(torch.diag(x.nan_to_num(1.0))),
}


@pytest.mark.parametrize("name", OF_ELEMENTS)
@pytest.mark.filterwarnings("ignore")
def test_elements_that_pytorch_refuses(name: str) -> None:
    snippet = OF_ELEMENTS[name]
    program = dycl.compile(Calls(snippet).eval(), torch.ones(2))
    failed = 0
    for numbers in ([1.0, 1.0], [0.0, 1.0], [1.0, 2.0], [-1.0, 3.0], [0.5, 0.25], [nan, 1.0], [9.0, 0.0], [inf, 1.0]):
        x = torch.tensor(numbers)
        expected, found = outcome_of(snippet, x), outcome_of(program, x)
        if isinstance(expected, Tensor):
            torch.testing.assert_close(found, expected, equal_nan=True)
        else:
            failed += 1
            assert found is expected, f"{name} of {numbers}"
    assert failed


def test_an_error_of_a_value_can_be_caught() -> None:
    def looked_up(x: Tensor, i: Tensor) -> Tensor:
        try:
            return F.embedding(i, x)
        except IndexError:
            return x * 2

    x = torch.arange(6.0).reshape(3, 2)
    program = dycl.compile(CallsWithTwo(looked_up).eval(), (x, torch.tensor([1])))
    for number in (1, -1):
        torch.testing.assert_close(program(x, torch.tensor([number])), looked_up(x, torch.tensor([number])))


def _looked_at(x: Tensor) -> Tensor:
    torch._check(x.sum().item() > -5, lambda: "much too small")
    torch._check_index(x[x > 0].shape[0] > 1)
    try:
        torch._check_value(bool(x[0] > 0), lambda: "begins badly")
    except ValueError:
        return x - 1
    torch._check_tensor_all(x < 3)
    return x + 1


def test_the_checks_that_pytorch_offers() -> None:
    program = dycl.compile(Calls(_looked_at).eval(), torch.ones(3))
    for numbers in ([1.0, 1, 1], [-1.0, 2, 2], [-1.0, -1, 2], [-9.0, 1, 1], [5.0, 1, 1]):
        expected, found = (outcome_of(function, torch.tensor(numbers)) for function in (_looked_at, program))
        assert torch.equal(found, expected) if isinstance(expected, Tensor) else found is expected


def test_an_error_of_linear_algebra_is_pytorchs_own_where_it_is_caught() -> None:
    def inverse(x: Tensor) -> Tensor:
        try:
            found: Tensor = torch.linalg.inv(x)
        except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
            found = x - 1
        return found

    program = dycl.compile(Calls(inverse).eval(), torch.eye(3))
    for x in (torch.eye(3), torch.zeros(3, 3)):
        torch.testing.assert_close(program(x), inverse(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.interpolate(x[None, None], size=int(x[0])),
        lambda x: F.interpolate(x[x > 0][None, None], scale_factor=0.5),
        lambda x: F.interpolate(x[x > 0][None, :, None].expand(1, -1, 2), scale_factor=2),
        lambda x: F.pad(x, (-int(x[0]), int(x[0]))),
        lambda x: torch.stack([x, x])[:, x > 0].unique(dim=0),
    ],
)
def test_nothing_where_pytorch_wants_something(function: Callable[[Tensor], Tensor]) -> None:
    program = dycl.compile(Calls(function).eval(), torch.tensor([1.0, 2.0, 3.0]))
    for numbers in ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [-1.0, -2.0, 5.0], [5.0, 6.0, 7.0], [-1.0, -1.0, -1.0]):
        x = torch.tensor(numbers)
        try:
            expected = function(x)
        except RuntimeError:
            with pytest.raises(RuntimeError):
                program(x)
        else:
            torch.testing.assert_close(program(x), expected)


def _rows_by_place(x: Tensor) -> Tensor:
    rows, columns = torch.where(x > 0)
    kept = x[x.sum(1) > 0]
    row = (kept > 0).nonzero()[:, 0]
    return x[rows].sum() + x[rows, columns].sum() + kept[row].sum() + kept.index_add(0, row, kept[row]).sum()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.gather(1, x.argmax(1, keepdim=True)) + x.gather(1, x.topk(1).indices),
        lambda x: F.one_hot((x > 0).sum(1), 5),
        _rows_by_place,
    ],
)
def test_places_that_were_found_are_not_checked(function: Callable[[Tensor], Tensor]) -> None:
    program = dycl.compile(Calls(function).eval(), (torch.randn(3, 4),))
    assert not any(isinstance(step, Check) for block in program.hcfg.blocks.values() for step in block.steps)
    for x in (torch.randn(3, 4), torch.zeros(3, 4), -torch.rand(3, 4)):
        torch.testing.assert_close(program(x), function(x))


NARROW: dict[str, Callable[[Tensor], Tensor]] = {
    "int8": lambda x: F.embedding(x.argmax().to(torch.int8).long(), torch.arange(600.0).reshape(300, 2)),
    "uint8": lambda x: F.one_hot((x.argmax().to(torch.uint8) - 100).long(), 256),
    "int32": lambda x: F.one_hot((x.argmax().to(torch.int32) * 2**24).long() // 2**22, 1200),
    "not a number": lambda x: F.one_hot(x[0].clamp(0, 1).mul(5).long(), 6),
    "the smaller of what is not a number": lambda x: F.one_hot(x[0].minimum(x[1]).clamp(0, 5).long(), 6),
    "up": lambda x: F.one_hot(x[0].nan_to_num().clamp(0.0, 2.5).ceil().long(), 3),
    "rounded": lambda x: F.one_hot((x[0].nan_to_num() % 4).round().long(), 4),
    "down": lambda x: F.one_hot((-x[0].nan_to_num().clamp(0.0, 2.5)).floor().long() + 2, 4),
    "a third": lambda x: F.one_hot((x[0].nan_to_num().clamp(0.0, 0.3) * 10).ceil().long(), 4),
    "a column": lambda x: F.one_hot(x.reshape(3, 100).nonzero()[:, 0], 3),
    "another column": lambda x: F.one_hot(x.reshape(3, 100).nonzero().t()[1], 3),
    "a row": lambda x: F.one_hot(x.reshape(3, 100).nonzero()[0], 3),
}


@pytest.mark.parametrize("name", NARROW)
def test_bounds_of_places_are_those_of_their_type(name: str) -> None:
    function = NARROW[name]
    program = dycl.compile(Calls(function).eval(), torch.eye(300)[1])
    for x in (*torch.eye(300)[[0, 1, 3, 99, 127, 128, 255, 299]], *(torch.full((300,), v) for v in (3.9, 2.4, nan))):
        expected, found = outcome_of(function, x), outcome_of(program, x)
        if isinstance(expected, Tensor):
            torch.testing.assert_close(found, expected)
        else:
            assert found is expected


def test_a_number_of_classes_that_the_input_determines() -> None:
    def marked(x: Tensor, n: Tensor) -> Tensor:
        return F.one_hot(x, int(n))

    program = dycl.compile(CallsWithTwo(marked).eval(), (torch.tensor([0, 2]), torch.tensor(3)))
    for classes in ([0, 2], [1, 0], [-1, 0]):
        for number in (3, 5, -1, 1, 0, -2):
            x, n = torch.tensor(classes), torch.tensor(number)
            expected, found = outcome_of(marked, x, n), outcome_of(program, x, n)
            assert (found is expected) if isinstance(expected, type) else torch.equal(found, expected)


def _stored(x: Tensor) -> tuple[Tensor, ...]:
    first, second, third = x * 1, x.sum(), x * 2
    first[x.sum() > 0] = 5.0
    second[second > 0] = 3.0
    third[:, x.sum() > 0, 0] = x[:, :1]
    return first, second, third


FLAGS: dict[str, Callable[[Tensor], Any]] = {
    "tensor": lambda x: (x[x.sum() > 0], x[1, x.sum() > 0], x[..., x.sum() > 0], x[None, x.sum() > 0, 1:]),
    "before a number": lambda x: x[:, x.sum() > 0, 1],
    "of Python": lambda x: (x[bool(x.sum() > 0)], x[True, int(x.sum() > 0)]),
    "narrow": lambda x: x[(x.sum() > 0).to(torch.uint8)],
    "of one number": lambda x: x[0, 0][x[0, 0] > 0],
    "of a constant": lambda x: torch.ones(3)[x.sum() > 0],
    "written": _stored,
}


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.filterwarnings("ignore")
def test_a_flag_as_an_index_is_a_mask(name: str) -> None:
    program = dycl.compile(Calls(FLAGS[name]).eval(), (torch.ones(3, 2),))
    for x in (torch.ones(3, 2), -torch.ones(3, 2), torch.arange(6.0).reshape(3, 2)):
        torch.testing.assert_close(program(x), FLAGS[name](x))
