"""What values that only the input determines say of themselves: nobody sees that something stands in for them."""

import types
from typing import Any

import torch
from torch import Tensor

from tests.python_rules.rule import refused


def classes(x: Tensor) -> Any:
    y = x + 1 if x.sum() > 0 else x
    number = int(x[0])
    same = [value.__class__ is type(value) for value in (y, number, str(number), range(number))]
    return y, y.__class__ is torch.Tensor, number.__class__.__name__, same, y.__doc__ == torch.Tensor.__doc__


def attributes_of_arrays(x: Tensor) -> Any:
    array, number = x.numpy(), x.numpy().mean()
    names = ("__len__", "__iter__", "__getitem__", "__index__", "shape", "item", "__array__")
    found = [(hasattr(array, name), hasattr(number, name)) for name in names]
    return found, (1 if hasattr(number, "__iter__") else 2), x * 2 if number > 0 else x


def an_array_that_is_no_sequence(x: Tensor) -> Any:
    number = x.numpy().max()
    try:
        length = number.__len__()
    except AttributeError:
        length = 1
    return length, x * 2 if x.sum() > 0 else x


def attributes_of_ranges(x: Tensor) -> Any:
    numbers = range(int(x[0]))
    for place in numbers if hasattr(numbers, "__iter__") else [1]:
        x = x + place
    return x, hasattr(numbers, "append")


def attributes_of_grown_lists(x: Tensor) -> Any:
    losses, error = [], x.sum()
    while error > 0.1:
        error = error / 2
        losses.append(error.item())
    return x + 1 if hasattr(losses, "size") else x - 1, hasattr(losses, "__len__"), hasattr(losses, "__radd__")


def attributes_of_texts(x: Tensor) -> Any:
    text = str(int(x[0]))
    return x, hasattr(text, "__index__"), hasattr(text, "upper"), hasattr(text, "__radd__")


def attributes_of_tensors(x: Tensor) -> Any:
    y = x + 1 if x.sum() > 0 else x
    return y, hasattr(y, "constant"), hasattr(y, "fake_mode"), getattr(y, "real_tensor", "none"), hasattr(y, "numpy")


@refused("DY009")
def all_attributes_of_a_tensor(x: Tensor) -> Any:
    y = x + 1 if x.sum() > 0 else x
    return len(vars(y)), y


def _above(x: Tensor) -> Any:
    for row in x:
        if row > 0:
            yield row * 2


def attributes_of_generators(x: Tensor) -> Any:
    found = _above(x)
    named = hasattr(found, "__next__"), hasattr(found, "send"), hasattr(found, "append"), type(found).__name__
    return next(found, None), named, isinstance(found, types.GeneratorType)


@refused("DY002")
def an_iterator_that_decides(x: Tensor) -> Any:
    mapped = map(lambda row: row if row > 0 else -row, x)
    y = x + 1 if x.sum() > 0 else x
    return (y, 1) if isinstance(mapped, map) else (y, 2)


class _Stop(Exception):
    def __init__(self, **values: Any) -> None:
        super().__init__()
        self.__dict__.update(values)


def attributes_of_errors(x: Tensor) -> Any:
    try:
        if x.sum() > 0:
            raise _Stop(step=1, value=x)
        raise _Stop(step=2)
    except _Stop as stop:
        return dict(vars(stop))


def a_float_is_no_index(x: Tensor) -> Any:
    place = x.sigmoid().mean().item()
    found = []
    for part in (lambda: x[place], lambda: x[..., place], lambda: x.numpy()[place], lambda: x.narrow(0, place, 1)):
        try:
            found.append(part())
        except (IndexError, TypeError) as error:
            found.append(type(error).__name__)
    return found


def special_methods_by_name(x: Tensor) -> Any:
    number = int(x[0])
    return number.__add__(1.5) is NotImplemented, number.__lt__(0.5) is NotImplemented, number.__add__(1), x.sum() > 0


def what_is_no_mapping(x: Tensor) -> Any:
    number = int(x[0])
    try:
        return (lambda **named: named)(**number)  # type: ignore[arg-type]
    except TypeError as error:
        return str(error).rpartition(" ")[2], x.sum() > 0
