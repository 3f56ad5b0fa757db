"""Indices that point nowhere: an error, unless there is nothing to find or to write there either.

PyTorch looks at indices only where there are elements. So `z[i]` of a tensor without columns gives rows without
columns, whatever `i` is, and what an index means for no rows at all differs from operation to operation.
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch import Tensor

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.errors.checks import check, inside

IN_SELF = "index out of range in self"

Flag = bool | Tensor
"""Something about sizes: known, or a 0-d tensor where a size is open."""


def bounds_message(dim: int, tensor: Tensor) -> str:
    """What PyTorch says of an index that points nowhere."""
    size = length(tensor, dim)
    of_size = f" with size {size}" if isinstance(size, int) else ""
    return f"index is out of bounds for dimension {dim % max(tensor.dim(), 1)}{of_size}"


def length(tensor: Tensor, dim: int) -> Any:
    """How many places there are along a dimension; a number is a tensor of one."""
    return tensor.shape[dim] if tensor.dim() else 1


def along(error: str, message: str = "") -> Callable[..., Any]:
    """Indices along one axis, not counted from its end."""

    def rule(recorder: Records, tensor: Tensor, dim: int, index: Tensor, *_: Any, **__: Any) -> Any:
        text = message or bounds_message(dim, tensor)
        return tensor, dim, inside(recorder, index, 0, length(tensor, dim), error, text)

    return rule


def _embedding(recorder: Records, weight: Tensor, indices: Tensor, *_: Any, **__: Any) -> Any:
    return weight, _chosen(recorder, weight, 0, indices, "IndexError", IN_SELF)


def _selected(recorder: Records, tensor: Tensor, dim: int, index: Tensor) -> Any:
    """PyTorch has another way for the second axis, which says so in other words."""
    if tensor.dim() < 2:
        return along("IndexError", IN_SELF)(recorder, tensor, dim, index)
    second = dim % tensor.dim() == 1
    message = "INDICES element is out of DATA bounds" if second else IN_SELF
    return tensor, dim, _chosen(recorder, tensor, dim, index, "RuntimeError" if second else "IndexError", message)


def _chosen(recorder: Records, tensor: Tensor, dim: int, index: Tensor, error: str, message: str) -> Tensor:
    """Indices of parts: of no parts at all, and of parts without elements, PyTorch complains in its own way."""
    _require_some(recorder, index, tensor.shape[dim], "index_select(): self indexing axis dim should be positive")
    nothing = _is_none(recorder, _beside(tensor, (dim,)))
    if error == "IndexError" and nothing is not False:
        # Its own error comes first where that holds, so that the other one is about elements that are there.
        text = "INDICES element is out of DATA bounds"
        inside(recorder, index, 0, tensor.shape[dim], "RuntimeError", text, _negated(nothing))
    return inside(recorder, index, 0, tensor.shape[dim], error, message)


def _added(recorder: Records, tensor: Tensor, dim: int, index: Tensor, source: Tensor, **__: Any) -> Any:
    if source.dim() != tensor.dim():
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension.")
    if tensor.dim() < 2:
        return along("IndexError", IN_SELF)(recorder, tensor, dim, index)
    text, size = bounds_message(dim, tensor), tensor.shape[dim]
    return tensor, dim, inside(recorder, index, 0, size, "RuntimeError", text, _is_none(recorder, tensor.numel()))


def _written(least: Callable[[Any], Any]) -> Callable[..., Any]:
    """Indices of parts that are written, from `least` of how many there are on."""

    def rule(recorder: Records, tensor: Tensor, dim: int, index: Tensor, *_: Any, **__: Any) -> Any:
        size, nothing = length(tensor, dim), _is_none(recorder, _beside(tensor, (dim,)))
        _require_some(recorder, index, size, "there is no such part of a tensor without any", nothing)
        text = bounds_message(dim, tensor)
        return tensor, dim, inside(recorder, index, least(size), size, "IndexError", text, nothing)

    return rule


def _index(recorder: Records, tensor: Tensor, indices: Sequence[Tensor | None], *_: Any, **__: Any) -> Any:
    axes: list[tuple[int, int]] = []
    axis = 0
    for place, index in enumerate(indices):
        if index is not None and index.dtype in (torch.bool, torch.uint8):
            axis += index.dim()
            continue
        if index is not None:
            axes.append((place, axis))
        axis += 1
    valid = list(indices)
    nothing = _is_none(recorder, _beside(tensor, [axis for _, axis in axes]))
    for place, axis in axes:
        index, size = indices[place], tensor.shape[axis]
        assert index is not None
        text = bounds_message(axis, tensor)
        if nothing is not False:
            _require_some(recorder, index, size, text, error="IndexError")
        valid[place] = inside(recorder, index, -size, size, "IndexError", text, nothing)
    return tensor, valid


def _beside(tensor: Tensor, dims: Collection[int]) -> Any:
    """How many elements each part along these dimensions has."""
    chosen = {dim % max(tensor.dim(), 1) for dim in dims}
    return math.prod(size for dim, size in enumerate(tensor.shape) if dim not in chosen)


def _is_none(recorder: Records, count: Any) -> Flag:
    return count == 0 if isinstance(count, int) else torch.eq(recorder.materialise(count), 0)


def _negated(flag: Flag) -> Flag:
    return not flag if isinstance(flag, bool) else torch.logical_not(flag)


def _require_some(
    recorder: Records, index: Tensor, size: Any, message: str, unless: Flag = False, error: str = "RuntimeError"
) -> None:
    """Let the program raise an error if indices are given, and there is nothing that they could mean."""
    none = _is_none(recorder, size)
    if none is False or unless is True:
        return
    some = _negated(none) if isinstance(unless, bool) else torch.logical_or(_flag(_negated(none)), unless)
    check(recorder, _flag(some).expand(index.shape).all(), error, message)


def _flag(flag: Flag) -> Tensor:
    return torch.tensor(flag) if isinstance(flag, bool) else flag


RULES: dict[str, Callable[..., Any]] = {
    "aten.embedding.default": _embedding,
    "aten.embedding_renorm.default": _embedding,
    "aten.index_select.default": _selected,
    "aten.index_add.default": _added,
    "aten.index_reduce.default": along("IndexError", IN_SELF),
    "aten.index_copy.default": _written(lambda size: 0),
    "aten.index_fill.int_Scalar": _written(lambda size: -size),
    "aten.index_fill.int_Tensor": _written(lambda size: -size),
    "aten.index.Tensor": _index,
    "aten.index_put.default": _index,
}
