"""Indexing by host values: tensors, and lists of numbers."""

import operator
from typing import Any

import torch

from dycl.rewrite.normalise.syntax import KnownNumber
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, item
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
        _require_inside(container, index, machine)
        part, rest = selected(container, index)
        return part[rest]
    if isinstance(container, HostRange):
        return range_item(container, index, machine)
    if isinstance(container, range) and isinstance(index, HostValue):
        return range_item(HostRange(container.start, container.stop, container.step), index, machine)
    if not isinstance(index, HostValue) or not isinstance(container, list | tuple) or not container:
        return NOT_HANDLED
    return number_at(container, index, machine)


def _require_inside(container: torch.Tensor, index: Any, machine: Running) -> None:
    """Check a tensor's index where the program may catch the error; elsewhere the backend raises it."""
    if not machine.catches_errors():
        return
    axis = 0
    for part in index if isinstance(index, tuple) else (index,):
        if part is Ellipsis or isinstance(part, torch.Tensor):
            raise Refused("DY008", "whether this index is out of range depends on the input, and may be caught")
        if isinstance(part, HostValue):
            size = machine.number(container.shape[axis])
            inside = (part >= -size) & (part < size)
            machine.recorder.check(inside.tensor, "IndexError", f"index is out of bounds for dimension {axis}")
        axis += part is not None


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
    if not mentions_host_value(index) and index is given:
        return NOT_HANDLED
    if mentions_host_value(index):
        _require_inside(container, index, machine)
    part, rest = selected(container, index)
    part[rest] = value.symbol() if isinstance(value, HostValue) else value
    return None


def _with_host_values(index: Any, machine: Running) -> Any:
    """A tensor's index with 0-d tensors of whole numbers as the numbers that PyTorch takes them for."""
    if isinstance(index, tuple):
        return tuple(_with_host_values(part, machine) for part in index)
    if isinstance(index, slice):
        return slice(*(_with_host_values(bound, machine) for bound in (index.start, index.stop, index.step)))
    if isinstance(index, list) and mentions_dynamic(index, machine):
        return make_tensor(machine, (index,), {})
    if type(index) is HostArray:
        index = item(index.tensor, machine) if index.scalar else index.tensor
    if isinstance(index, torch.Tensor) and index.dim() == 0 and machine.recorder.is_dynamic(index):
        whole = not index.is_floating_point() and index.dtype != torch.bool
        return item(index, machine) if whole else index
    return index


def mentions_host_value(index: Any) -> bool:
    """Whether a tensor's index has a host value at a position of its own."""
    if isinstance(index, slice):
        return any(isinstance(bound, HostValue) for bound in (index.start, index.stop, index.step))
    if isinstance(index, tuple):
        return any(mentions_host_value(part) for part in index)
    return isinstance(index, HostValue)


def selected(container: torch.Tensor, index: Any) -> tuple[torch.Tensor, Any]:
    """The tensor with its host-valued positions selected, and what is left of the index."""
    parts = index if isinstance(index, tuple) else (index,)
    consumed = sum(_axes(part) for part in parts)
    axes: list[int] = []
    axis = 0
    for part in parts:
        axes.append(axis)
        axis += container.dim() - consumed if part is Ellipsis else _axes(part)
    for part, place in reversed(list(zip(parts, axes, strict=True))):
        if isinstance(part, HostValue):
            container = torch.select(container, place, part.as_kind("int").symbol())
    return container, tuple(_plain_bounds(part) for part in parts if not isinstance(part, HostValue)) or Ellipsis


def _axes(part: Any) -> int:
    """How many dimensions of a tensor one part of an index stands for."""
    if part is None or part is Ellipsis:
        return 0
    return part.dim() if isinstance(part, torch.Tensor) and part.dtype == torch.bool else 1


def _plain_bounds(part: Any) -> Any:
    if not isinstance(part, slice):
        return part
    bounds = (part.start, part.stop, part.step)
    return slice(*(bound.symbol() if isinstance(bound, HostValue) else bound for bound in bounds))


HANDLERS: dict[Any, Handler] = {operator.getitem: get_item, operator.setitem: set_item}
