"""Indexing by host values: tensors, and lists of numbers."""

from typing import TYPE_CHECKING, Any

import torch

from dycl.rewrite.dynamic import NOT_HANDLED, item
from dycl.rewrite.host_values import DTYPES, HostValue, kind_of

if TYPE_CHECKING:
    from dycl.rewrite.machine import Machine


def get_item(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`container[index]`, where the index is or has a host value."""
    container, index = args
    if isinstance(container, torch.Tensor):
        index = _with_host_values(index, machine)
        if not _mentions_host_value(index):
            return NOT_HANDLED
        selected, rest = _selected(container, index)
        return selected[rest]
    if not isinstance(index, HostValue) or not isinstance(container, list | tuple) or not container:
        return NOT_HANDLED
    kind = kind_of(container[0])
    if kind is None or any(kind_of(value) != kind or isinstance(value, HostValue) for value in container):
        return NOT_HANDLED
    if index.kind == "float":
        raise TypeError(f"{type(container).__name__} indices must be integers or slices, not float")
    number, size = index.as_kind("int").tensor, len(container)
    inside = torch.logical_and(torch.ge(number, -size), torch.lt(number, size))
    machine.recorder.check(inside, "IndexError", f"{type(container).__name__} index out of range")
    table = torch.tensor(container, dtype=DTYPES[kind])
    place = torch.remainder(number, size)
    return HostValue(kind, torch.index_select(table, 0, place.reshape(1)).reshape(()), machine.recorder)


def set_item(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`tensor[index] = value`, where the index is or has a host value."""
    container, index, value = args
    index = _with_host_values(index, machine)
    if not isinstance(container, torch.Tensor) or not _mentions_host_value(index):
        return NOT_HANDLED
    selected, rest = _selected(container, index)
    selected[rest] = value.symbol() if isinstance(value, HostValue) else value
    return None


def _with_host_values(index: Any, machine: "Machine") -> Any:
    """A tensor's index with 0-d tensors of whole numbers as the numbers that PyTorch takes them for."""
    if isinstance(index, tuple):
        return tuple(_with_host_values(part, machine) for part in index)
    if isinstance(index, slice):
        return slice(*(_with_host_values(bound, machine) for bound in (index.start, index.stop, index.step)))
    if isinstance(index, torch.Tensor) and index.dim() == 0 and machine.recorder.is_dynamic(index):
        whole = not index.is_floating_point() and index.dtype != torch.bool
        return item(index, machine) if whole else index
    return index


def _mentions_host_value(index: Any) -> bool:
    """Whether a tensor's index has a host value at a position of its own."""
    if isinstance(index, slice):
        return any(isinstance(bound, HostValue) for bound in (index.start, index.stop, index.step))
    if isinstance(index, tuple):
        return any(_mentions_host_value(part) for part in index)
    return isinstance(index, HostValue)


def _selected(container: torch.Tensor, index: Any) -> tuple[torch.Tensor, Any]:
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
