"""Indexing by host values: tensors, and lists of numbers."""

import functools
import operator
import types
import warnings
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.normalise.syntax import KnownNumber
from dycl.rewrite.record.errors.number_limits import require_storable
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, kind_of, lift
from dycl.rewrite.record.sizes.needs import equal
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, has_plain, item, number_of
from dycl.rewrite.semantics.number_lists import number_at, store_number
from dycl.rewrite.semantics.ranges import range_item
from dycl.rewrite.semantics.tensor_literals import make_tensor, mentions_dynamic
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.frames import HostRange


def get_item(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`container[index]`, where the index is or has a host value."""
    container, index = args
    if type(index) is KnownNumber:
        return container[int(index)]
    if isinstance(container, torch.Tensor):
        given, index = index, _with_host_values(index, machine)
        if not mentions_host_value(index):
            return NOT_HANDLED if index is given else container[index]
        part, rest = selected(container, index)
        return part[rest]
    if isinstance(container, HostRange):
        return range_item(container, index, machine)
    if isinstance(container, range) and isinstance(index, HostValue):
        return range_item(HostRange(container.start, container.stop, container.step), index, machine)
    if (
        not isinstance(index, HostValue)
        or not has_plain(container, "__getitem__", (torch.Size, list, tuple))
        or not container
    ):
        return NOT_HANDLED
    return number_at(container, index, machine)


def _places(container: torch.Tensor, index: Any) -> list[tuple[Any, int]]:
    """The parts of an index, each with the dimension that it is about."""
    parts = index if isinstance(index, tuple) else (index,)
    consumed = sum(_axes(part) for part in parts)
    places: list[tuple[Any, int]] = []
    axis = 0
    for part in parts:
        places.append((part, axis))
        axis += container.dim() - consumed if part is Ellipsis else _axes(part)
    return places


def set_item(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`container[index] = value`, where the index is or has a host value."""
    container, index, value = args
    if type(index) is KnownNumber:
        container[int(index)] = value
        return None
    if type(container) is list and isinstance(index, HostValue):
        return store_number(container, index, value, machine)
    if not isinstance(container, torch.Tensor):
        return NOT_HANDLED
    given, index = index, _with_host_values(index, machine)
    if type(value) is HostArray:
        given, value = None, item(value.tensor, machine) if value.scalar else value.tensor
    if isinstance(value, HostValue):
        require_storable(machine.recorder, value.symbol(), container.dtype)
        given, value = None, value.tensor.to(container.dtype)
    opens = isinstance(value, torch.Tensor) and value.dim() and isinstance(value.shape[0], torch.SymInt)
    if not mentions_host_value(index) and index is given and not opens:
        return NOT_HANDLED
    part, rest = selected(container, index)
    part[rest] = _without_leading_ones(value, _rank(part, rest), machine) if opens else value
    return None


def _without_leading_ones(value: torch.Tensor, rank: int, machine: Running) -> torch.Tensor:
    """What is stored, without the dimensions before those of its place: PyTorch drops them if their size is 1."""
    for _ in range(value.dim() - rank):
        equal(machine.recorder, value.shape[0], 1, "expand: the requested shape has too few dimensions!")
        value = value.select(0, 0)
    return value


def _rank(container: torch.Tensor, index: Any) -> int:
    """How many dimensions the part of a tensor has that an index names."""
    parts = index if isinstance(index, tuple) else (index,)
    rank = container.dim() - sum(map(_axes, parts)) + sum(part is None or isinstance(part, slice) for part in parts)
    return rank + max((_depth(part) for part in parts if isinstance(part, torch.Tensor | list | bool)), default=0)


def _depth(part: Any) -> int:
    """How many dimensions what an index chooses has instead of those that it is about."""
    if isinstance(part, list):
        return 1 + max((_depth(item) for item in part if isinstance(item, list)), default=0)
    if isinstance(part, torch.Tensor):
        return 1 if part.dtype in _MASKS else part.dim()
    return int(isinstance(part, bool))


def _with_host_values(index: Any, machine: Running) -> Any:
    """A tensor's index with 0-d tensors as the numbers and flags that PyTorch takes them for."""
    if isinstance(index, tuple):
        return tuple(_with_host_values(part, machine) for part in index)
    if isinstance(index, slice):
        return slice(*(_with_number(bound, machine) for bound in (index.start, index.stop, index.step)))
    if isinstance(index, list) and mentions_dynamic(index, machine):
        if _lists_are_tuples() and any(isinstance(part, _OF_TUPLES) for part in index) and len(index) < 32:
            return _with_host_values(tuple(index), machine)
        return make_tensor(machine, (index,), {})
    if type(index) is HostArray:
        index = item(index.tensor, machine) if index.scalar else index.tensor
    if isinstance(index, torch.Tensor) and index.dim() == 0 and machine.recorder.is_dynamic(index):
        return item(torch.ne(index, 0), machine) if index.dtype in _MASKS else _with_number(index, machine)
    return index


# A list of up to 31 parts that has one of these is an index of several dimensions.
_OF_TUPLES = (torch.Tensor, list, tuple, slice, types.EllipsisType, types.NoneType)


@functools.cache
def _lists_are_tuples() -> bool:
    """Whether this version of PyTorch takes such a list for a tuple, which it warns of."""
    with _disable_current_modes(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.zeros(1, 1)[[torch.tensor(0), torch.tensor(0)]].dim() == 0


# Element types of which PyTorch takes an index for a mask.
_MASKS = (torch.bool, torch.uint8)


def _with_number(bound: Any, machine: Running) -> Any:
    """A 0-d tensor of a whole number as the number."""
    if isinstance(bound, torch.Tensor) and bound.dim() == 0 and machine.recorder.is_dynamic(bound):
        whole = not bound.is_floating_point() and bound.dtype != torch.bool
        return item(bound, machine, is_place=True) if whole else bound
    return bound


def mentions_host_value(index: Any) -> bool:
    """Whether a tensor's index has a host value at a position of its own."""
    if isinstance(index, slice):
        return any(isinstance(bound, HostValue) for bound in (index.start, index.stop, index.step))
    if isinstance(index, tuple):
        return any(mentions_host_value(part) for part in index)
    return isinstance(index, HostValue)


def selected(container: torch.Tensor, index: Any) -> tuple[torch.Tensor, Any]:
    """The tensor with its host-valued positions selected, and what is left of the index."""
    rest: list[Any] = []
    for part, place in reversed(_places(container, index)):
        if not isinstance(part, HostValue):
            rest.append(_plain_bounds(part))
        elif part.kind == "bool":
            # A flag is the mask of a new dimension of size 1.
            container = container.unsqueeze(place)
            rest.append(part.tensor.reshape(1))
        elif part.kind == "float":
            raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and tensors are valid indices")
        else:
            container = torch.select(container, place, part.as_kind("int").symbol())
    return container, tuple(reversed(rest)) or Ellipsis


def _axes(part: Any) -> int:
    """How many dimensions of a tensor one part of an index stands for."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    if isinstance(part, HostValue):
        return int(part.kind != "bool")
    return part.dim() if isinstance(part, torch.Tensor) and part.dtype in _MASKS else 1


def _plain_bounds(part: Any) -> Any:
    if not isinstance(part, slice):
        return part
    bounds = (part.start, part.stop, part.step)
    if any(kind_of(bound) == "float" for bound in bounds):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return slice(*(bound.symbol() if isinstance(bound, HostValue) else bound for bound in bounds))


def tensor_split(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`x.tensor_split(places)`, where the places to cut at are a tensor that only the input determines."""
    given = dict(zip(("input", "places", "dim"), args, strict=False)) | kwargs
    x, places = given.get("input"), given.get("places", given.get("tensor_indices_or_sections"))
    if (
        not isinstance(x, torch.Tensor)
        or not isinstance(places, torch.Tensor)
        or not machine.recorder.is_dynamic(places)
    ):
        return NOT_HANDLED
    if places.dim() != 1:
        raise Refused("DY008", "how many pieces `tensor_split` gives depends on the input")
    cuts = [item(places[number], machine).symbol() for number in range(places.shape[0])]
    ends = zip([0, *cuts], [*cuts, None], strict=True)
    return tuple([torch.ops.aten.slice.Tensor(x, given.get("dim", 0), start, end) for start, end in ends])


def narrow(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`x.narrow(dim, start, length)`, where only the input determines start, length or the size."""
    given = dict(zip(("input", "dim", "start", "length"), args, strict=False)) | kwargs
    if len(given) != 4 or not {"input", "dim", "start", "length"} <= given.keys():
        return NOT_HANDLED
    x, start, length = given["input"], *(number_of(given[name], machine) for name in ("start", "length"))
    if not isinstance(x, torch.Tensor):
        return NOT_HANDLED
    numbers = [machine.number(number) for number in (x.shape[given["dim"]], start, length)]
    if any(type(number) is HostValue and number.kind != "int" for number in numbers):
        raise TypeError("narrow(): start and length must be whole numbers")
    if not any(isinstance(number, HostValue) for number in numbers):
        return NOT_HANDLED
    size, first, count = (lift(number, "int", machine.recorder) for number in numbers)
    inside = torch.logical_and((first >= -size).tensor, (first <= size).tensor)
    machine.recorder.check(inside, "IndexError", "start out of range in narrow")
    first = HostValue("int", torch.where((first < 0).tensor, (first + size).tensor, first.tensor), machine.recorder)
    begin = start if type(start) is int and start >= 0 else first.symbol()
    # Not a slice: PyTorch knows then that the result is as long as it should be.
    return x.narrow(given["dim"], begin, count.symbol() if type(length) is HostValue else length)


HANDLERS: dict[Any, Handler] = {
    torch.narrow: narrow,
    torch.Tensor.narrow: narrow,
    operator.getitem: get_item,
    operator.setitem: set_item,
    torch.tensor_split: tensor_split,
    torch.Tensor.tensor_split: tensor_split,
}
