"""Numbers of the input as sizes, one of which may be -1, and values with leading dimensions of 1 stored by an index."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import dycl
from tests.comparison import Calls, CallsWithTwo, assert_same

SHAPED: dict[str, Callable[[Tensor, int], Any]] = {
    "view, one left": lambda x, k: x.view(k, -1),
    "view, the other left": lambda x, k: x.view(-1, k),
    "view": lambda x, k: x.view(k, k),
    "view of one": lambda x, k: x.view(k),
    "reshape": lambda x, k: x.reshape(k, 2, -1),
    "unflatten": lambda x, k: x.unflatten(0, (k, -1)),
    "expand": lambda x, k: x.expand(k, 4),
    "expand as it is": lambda x, k: x[None].expand(2, k),
    "broadcast_to": lambda x, k: torch.broadcast_to(x, (k, 4)),
    "tile": lambda x, k: x.tile((k,)),
    "repeat": lambda x, k: x.repeat(k, 2),
    "zeros": lambda x, k: torch.zeros(k),
}


@pytest.mark.parametrize("name", SHAPED)
def test_a_number_of_the_input_as_a_size(name: str) -> None:
    def shaped(x: Tensor, k: Tensor) -> Any:
        try:
            return SHAPED[name](x, int(k))
        except RuntimeError:
            return x - 1

    x = torch.arange(4.0)
    program = dycl.compile(CallsWithTwo(shaped).eval(), (x, torch.tensor(2)))
    for number in (2, 1, 4, 0, 3, -1, -2, -7):
        k = torch.tensor(number)
        assert_same(shaped(x, k), program(x, k))


def _stored(x: Tensor) -> Tensor:
    y = torch.zeros(4)
    try:
        y[:] = x
    except RuntimeError:
        y = y - 1
    return y


def _stored_in_a_row(x: Tensor) -> Tensor:
    y = torch.zeros(3, 4)
    try:
        y[-1] = x[:, None]
    except RuntimeError:
        y = y - 1
    return y


def _stored_at_places(x: Tensor) -> Tensor:
    y = torch.zeros(3, 4)
    try:
        y[[0, 2], 1:3] = x[:, None, :2]
    except RuntimeError:
        y = y - 1
    return y


@pytest.mark.parametrize("function", [_stored, _stored_in_a_row, _stored_at_places])
def test_leading_dimensions_of_open_size_are_dropped_where_they_are_one(function: Callable[[Tensor], Tensor]) -> None:
    rows = Dim("rows", min=0, max=100)
    program = dycl.compile(Calls(function).eval(), torch.ones(3, 4), dynamic_shapes={"x": {0: rows}})
    for count in (3, 1, 0, 2, 5):
        x = torch.arange(count * 4.0).reshape(count, 4)
        assert_same(function(x), program(x))


def test_a_row_at_a_place_of_the_input() -> None:
    def stored(x: Tensor, k: Tensor) -> Tensor:
        y = torch.zeros(3)
        y[-1] = x[int(k) : int(k) + 1]
        return y

    program = dycl.compile(CallsWithTwo(stored).eval(), (torch.arange(4.0), torch.tensor(1)))
    for number in (0, 1, 3, -2):
        assert_same(stored(torch.arange(4.0), torch.tensor(number)), program(torch.arange(4.0), torch.tensor(number)))
    with pytest.raises(RuntimeError):
        program(torch.arange(4.0), torch.tensor(4))


def _place_of_the_greatest(x: Tensor) -> Any:
    place: Any = (x == x.max()).nonzero().item()
    return x[place] * 2 if place > 0 else x


def _the_only_one(x: Tensor) -> Any:
    try:
        return x[x > 2].item() + 1
    except RuntimeError:
        return "not one"


def _as_a_number(x: Tensor) -> Any:
    try:
        return int(x[x > 2]), float(x[x > 2])
    except ValueError:
        return "not one"


def _as_a_condition(x: Tensor) -> Any:
    try:
        return x + 1 if x[x > 2] else x
    except RuntimeError:
        return "not one"


@pytest.mark.parametrize("function", [_place_of_the_greatest, _the_only_one, _as_a_number, _as_a_condition])
def test_the_element_of_a_tensor_that_may_have_more(function: Callable[[Tensor], Any]) -> None:
    program = dycl.compile(Calls(function).eval(), torch.tensor([1.0, 3.0, 2.0]))
    for numbers in ([1.0, 3.0, 2.0], [5.0, 1.0, 0.0], [0.0, 0.0, 9.0], [3.0, 4.0, 0.0], [1.0, 0.5, 0.0]):
        x = torch.tensor(numbers)
        assert_same(function(x), program(x))


@pytest.mark.parametrize("place", [0, -1, 1])
def test_a_write_at_a_place_that_is_not_there(place: int) -> None:
    """What takes a view and what puts it back wait for the same check."""

    def written(x: Tensor) -> Tensor:
        y = x[x > 0].clone()
        y[place] = 7
        return y if x[0] > 0 else y + 1

    program = dycl.compile(Calls(written).eval(), torch.ones(3))
    for x in (torch.ones(3), torch.tensor([-1.0, 2.0, 0.0]), torch.tensor([-1.0, 2.0, 3.0]), -torch.ones(3)):
        try:
            expected = written(x)
        except IndexError:
            with pytest.raises(IndexError):
                program(x)
        else:
            assert torch.equal(program(x), expected)
