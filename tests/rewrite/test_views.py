"""Writing through views changes what they view, as in eager PyTorch."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import dycl
from tests.comparison import Calls, assert_same


def _narrow_from_the_end(x: Tensor) -> Tensor:
    y = x.clone()
    y.narrow(-1, -2, 2).mul_(3.0)
    return y[1:]


def _narrow_before_the_end(x: Tensor) -> Tensor:
    y = x.clone()
    y.narrow(1, -3, 2).mul_(3.0)
    return y


def _narrow_where_the_input_says(x: Tensor) -> tuple[Tensor, Tensor]:
    front, back = x.clone(), x.clone()
    places = int(x[0, 1, 0].item())
    front.narrow(1, places, 1).zero_()
    back.narrow(1, -places, 2).zero_()
    return front, back


def _all_axes_reversed(x: Tensor) -> Tensor:
    y = x.clone()
    y.T[0].mul_(3)
    return y


@pytest.mark.parametrize(
    "function", [_narrow_from_the_end, _narrow_before_the_end, _narrow_where_the_input_says, _all_axes_reversed]
)
@pytest.mark.filterwarnings("ignore:The use of `x.T` on tensors of dimension other than 2")
def test_a_write_through_a_view(function: Callable[[Tensor], object]) -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    x[0, 1, 0] = 2
    torch.testing.assert_close(dycl.compile(Calls(function).eval(), x)(x), function(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.slice_scatter(x, torch.zeros(2, 3, 3), 2, 0, 2),
        lambda x: torch.select_scatter(x, torch.zeros(2, 4), 2, 0),
    ],
)
def test_a_part_of_another_shape_is_refused_as_pytorch_does(function: Callable[[Tensor], object]) -> None:
    with pytest.raises(dycl.CompileError, match=r"DY010.*expected src to have a size equal to the slice of self"):
        dycl.compile(Calls(function).eval(), torch.zeros(2, 3, 4))


_ROWS = {"x": {0: torch.export.Dim("rows", min=0, max=64)}}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.T.view(-1),
        lambda x: x[:, :2].view(-1),
        lambda x: x[::2].view(-1),
        lambda x: torch.relu(x.T).view(-1),
        lambda x: (x.T + 1).view_as(x),
        lambda x: x.expand(2, -1, -1).view(-1, 4),
        lambda x: x[x[:, 0] > 0][:, 1:].view(-1),
    ],
)
def test_a_view_that_only_some_sizes_allow_is_refused(function: Callable[[Tensor], object]) -> None:
    with pytest.raises(dycl.CompileError, match=r"DY006.*`view` takes this tensor for some sizes only"):
        dycl.compile(Calls(function).eval(), torch.ones(3, 4), dynamic_shapes=_ROWS)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.view(-1),
        lambda x: x.T.contiguous().view(-1),
        lambda x: x[:, :2].view(x.shape[0], 1, 2),
        lambda x: x[1:].view(-1),
        lambda x: (x @ x.T).view(-1),
        lambda x: x[x[:, 0] > 0].view(-1, 2),
        lambda x: (x.T + 1).T.view(-1),
        lambda x: (x.T * 2).reshape(-1).add_(1),
    ],
)
def test_a_view_that_every_size_allows(function: Callable[[Tensor], Tensor]) -> None:
    program = dycl.compile(Calls(function).eval(), torch.ones(3, 4), dynamic_shapes=_ROWS)
    for rows in (0, 1, 2, 5):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(program(x), function(x))


def test_the_one_element_of_an_open_size() -> None:
    def single(x: Tensor) -> object:
        found = x[x[:, 0] > 0]
        return (found.view(()), found.reshape([])) if found.numel() == 1 else found

    program = dycl.compile(Calls(single).eval(), torch.ones(3, 1), dynamic_shapes=_ROWS)
    for numbers in ([1.0, -2.0], [3.0], [1.0, 2.0, -1.0], []):
        x = torch.tensor(numbers).reshape(-1, 1)
        assert_same(single(x), program(x))


@pytest.mark.parametrize(
    "squeezed",
    [lambda y: y.squeeze(), lambda y: torch.squeeze(y, (0,)), lambda y: torch.as_tensor(y.numpy())],
)
def test_a_view_is_another_tensor_also_where_nothing_changes(squeezed: Callable[[Tensor], Tensor]) -> None:
    def written(x: Tensor) -> object:
        y = x * 1.0
        view = squeezed(y)
        if x.sum() > 0:
            view.add_(10)
        else:
            y.mul_(3)
        return y, view, view is y

    program = dycl.compile(Calls(written).eval(), torch.ones(3, 4), dynamic_shapes=_ROWS)
    for x in (torch.ones(0, 4), torch.ones(1, 4), -torch.ones(1, 4), torch.ones(3, 4), -torch.ones(2, 4)):
        assert_same(written(x), program(x))
