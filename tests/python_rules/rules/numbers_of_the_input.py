"""Numbers of the input where they say how much of something is meant, or which of its items."""

import types
from typing import Any

import torch
from torch import Tensor

from tests.python_rules.rule import refused


def a_part_of_a_tuple_is_a_tuple(x: Tensor) -> Any:
    part = (1, 2, 3)[: int(x[0])]
    return part, isinstance(part, tuple), {part: 4}[part], (*part, 5)


def a_part_of_a_tuple_as_an_index(x: Tensor) -> Any:
    return torch.arange(4.0).view(2, 2)[(0, 1)[: int(x[0])]]


def the_rest_of_the_arguments(x: Tensor) -> Any:
    def rest(*values: Any) -> Any:
        return values[int(x[0]) :]

    return rest(x, x + 1, x + 2), type(rest(1, 2)).__name__


def no_items_tell_no_type(x: Tensor) -> Any:
    places = (x > 2).nonzero().flatten().tolist()
    signs = (x > 0).tolist()[: int(x[0])]
    return torch.tensor(places), torch.as_tensor(signs), torch.tensor(places, dtype=torch.int32)


def no_items_are_no_index(x: Tensor) -> Any:
    places = torch.tensor((x > 2).nonzero().flatten().tolist())
    try:
        return x[places]
    except IndexError:
        return "no index"


def squeezed_dimensions(x: Tensor) -> Any:
    try:
        return x[None].squeeze(int(x[0]) - 1), x[None, :, None].squeeze((0, int(x[0]) + 1))
    except (IndexError, RuntimeError) as error:
        return type(error).__name__


def differences_along_dimensions(x: Tensor) -> Any:
    try:
        return torch.ones(2, 3).diff(dim=int(x[0]) - 1), x.diff(n=int(x[1]) + 1)
    except (IndexError, RuntimeError) as error:
        return type(error).__name__


def differences_of_no_order(x: Tensor) -> Any:
    same = x.diff(n=int(x[0]) - 1 if x[0] > 0 else 0)
    same += 1
    return same, x


def joined_copies(x: Tensor) -> Any:
    try:
        return torch.cat([x] * int(x[0]))
    except (RuntimeError, ValueError) as error:
        return type(error).__name__


def selected_columns(x: Tensor) -> Any:
    try:
        return torch.eye(3).index_select(1, torch.tensor([int(x[0])]))
    except (RuntimeError, IndexError) as error:
        return type(error).__name__


def sizes_that_are_left_open(x: Tensor) -> Any:
    whole = torch.arange(6.0)
    try:
        return whole.reshape(2, int(x[0])), whole.unflatten(0, (2, int(x[0]))), whole[:, None].expand(-1, int(x[0]))
    except RuntimeError:
        return "no such shape"


def sizes_that_must_be_equal(x: Tensor) -> Any:
    count, filled = int((x > 0).sum()), torch.zeros(5)
    try:
        filled[:count] = torch.ones(2)
        filled[:count] += torch.ones(2)
    except RuntimeError:
        return "no", filled
    return filled, torch.ones(2).expand(count)


class _Named:
    def __class_getitem__(cls, number: Any) -> Any:
        return "one" if number == 1 else f"another one of {cls.__name__}"


def classes_asked_for_an_item(x: Tensor) -> Any:
    class Local(_Named):
        pass

    return _Named[int(x[0])], Local[int(x[1])], _Named[x.sum() > 0]


class _Odd(int):
    def __int__(self) -> int:
        return 2

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = int.__hash__


def numbers_that_say_something_else(x: Tensor) -> Any:
    class Other(float):
        def __float__(self) -> float:
            return 9.0

    factor, place = Other(1.5), _Odd(1)
    return (x * factor, x[place]) if x[1] > 0 else (x * place, factor + 1)


class _Items(list[Any]):
    pass


class _Pair(tuple[Any, ...]):
    pass


@refused("DY013")
def lists_of_another_class_returned(x: Tensor) -> Any:
    return _Items([x, 1])


@refused("DY013")
def tuples_of_another_class_returned(x: Tensor) -> Any:
    return {"pair": _Pair([x, 1])}


@refused("DY009")
def the_names_of_a_namespace(x: Tensor) -> Any:
    space = types.SimpleNamespace(a=1)
    names = vars(space)
    if x[0] > 0:
        space.a = 2
    return names["a"], space.a
