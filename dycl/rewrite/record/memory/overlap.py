"""Whether two tensors in the same memory have elements in common: PyTorch refuses some writes of one by the other.

Others it lets pass, and reads what it has just written.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch._ops import OpOverload
from torch.fx.experimental.symbolic_shapes import statically_known_true

from dycl.rewrite.record.layouts import as_if_alike, widens
from dycl.rewrite.record.sizes.sampled_shapes import Assignment, symbols_in, value_of

aten = torch.ops.aten


@dataclass(slots=True)
class View:
    """How a view was taken: the call that gave it, and which of its results it is."""

    tensor: torch.Tensor
    parent: torch.Tensor
    func: OpOverload[Any, Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    position: int | None
    parent_version: int


def lies_across(one: torch.Tensor, other: torch.Tensor, views: Mapping[int, View], by_place: bool) -> bool:
    """Whether two tensors in the same memory have elements in common, other than each its own where that is allowed."""
    if _is_all_or_nothing(one, other, views):
        return not by_place
    # Where one element stands for all, it is the first of them that it is written to or by.
    one, other = as_if_alike(one), as_if_alike(other)
    if not (_is_dense(one) and _is_dense(other)):
        return _has_some_of(one, other, by_place)
    here, there = ((tensor.storage_offset(), tensor.numel()) for tensor in (one, other))
    if not all(isinstance(number, int) for number in (*here, *there)):
        return not all(_always_equal(*pair) for pair in zip(here, there, strict=True))
    if not here[1] or not there[1] or (by_place and here == there and one.stride() == other.stride()):
        return False
    return here[0] < there[0] + there[1] and there[0] < here[0] + here[1]


def _has_some_of(one: torch.Tensor, other: torch.Tensor, by_place: bool) -> bool:
    """Whether two tensors of which one has gaps have elements in common, for some sizes."""
    if one.dtype != other.dtype:
        return True
    tensors = (one, other)
    symbols = symbols_in([(tensor, tensor.storage_offset()) for tensor in tensors])
    for numbers in _NUMBERS:
        assignment = dict(zip(symbols, itertools.cycle(numbers), strict=False))
        here, there = (_places(tensor, assignment) for tensor in tensors)
        is_same = here.shape == there.shape and bool((here == there).all())
        if not (is_same and by_place) and bool(np.isin(here, there).any()):
            return True
    return False


_NUMBERS = ((2,), (3,), (1,), (5, 3, 4), (3, 4, 5), (2, 7))


def _places(tensor: torch.Tensor, assignment: Assignment) -> Any:
    """Where the elements of a tensor lie, for these sizes."""
    places = np.array(value_of(tensor.storage_offset(), assignment))
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        places = places[..., None] + np.arange(value_of(size, assignment)) * value_of(stride, assignment)
    return places


def _is_all_or_nothing(one: torch.Tensor, other: torch.Tensor, views: Mapping[int, View]) -> bool:
    """Whether two tensors were taken in the same way, so that they are one or have nothing in common."""
    one, other = _first_alike(one, views), _first_alike(other, views)
    if one is other:
        return True
    first, second = views.get(id(one)), views.get(id(other))
    if first is None or second is None or first.func is not second.func or first.position != second.position:
        return False
    if not _is_all_or_nothing(first.parent, second.parent, views):
        return False
    # Of a row it makes no difference which one it is.
    count = 2 if first.func is aten.select.int else None
    return _same(first.args[1:count], second.args[1:count]) and _same(first.kwargs, second.kwargs)


def _first_alike(tensor: torch.Tensor, views: Mapping[int, View]) -> torch.Tensor:
    """What a tensor was taken from, as far as that has the same elements at the same places."""
    view = views.get(id(tensor))
    return _first_alike(view.parent, views) if view is not None and _lies_alike(view) else tensor


def _lies_alike(view: View) -> bool:
    """Whether a view has the elements of what it was taken from, at the same places, whatever is open."""
    tensor, parent = view.tensor, view.parent
    if tensor.dim() != parent.dim() or tensor.dtype != parent.dtype:
        return False
    axes = list(range(tensor.dim()))
    if widens(view.func):
        # What is expanded has the same size and lies alike, or else one element stands for all.
        axes = [axis for axis in axes if _same(tensor.shape[axis], parent.shape[axis]) or _is_one(parent.shape[axis])]
    elif not _same(tuple(tensor.shape), tuple(parent.shape)):
        return False
    places = [([item.stride(axis) for axis in axes], item.storage_offset()) for item in (tensor, parent)]
    return _same(*places)


def _is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1


def _same(one: Any, other: Any) -> bool:
    """Whether two calls got the same, whatever the open sizes and numbers are."""
    if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor):
        return one is other
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return _always_equal(one, other)


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements lie close together, in whatever order."""
    if not all(isinstance(number, int) for number in (*tensor.shape, *tensor.stride())):
        return _is_in_order(tensor)
    step = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def _is_in_order(tensor: torch.Tensor) -> bool:
    """Whether the elements lie one behind the other, whatever the open sizes are."""
    step: Any = 1
    for size, stride in reversed(list(zip(tensor.shape, tensor.stride(), strict=True))):
        if not _always_equal(stride, step):
            return False
        step = step * size
    return True


def _always_equal(one: Any, other: Any) -> bool:
    """Whether two numbers are equal for all sizes that are open."""
    return bool(statically_known_true(one == other))
