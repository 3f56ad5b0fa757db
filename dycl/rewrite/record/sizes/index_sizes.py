"""What indexing, gathering and scattering need of the sizes of indices, and of what is stored."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch import Tensor

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.sizes.needs import at_least, ceiling, equal, expression, spreads, together


def _indexed(recorder: Records, tensor: Tensor, indices: Sequence[Tensor | None], *_: Any, **__: Any) -> None:
    """The sizes of a mask are those of what it chooses from; those of several indices go together."""
    axis = 0
    numbers: list[Sequence[Any]] = []
    for index in indices:
        if index is not None and index.dtype in (torch.bool, torch.uint8):
            for place, size in enumerate(index.shape):
                message = (
                    f"The shape of the mask at index {place} does not match the shape of the indexed tensor "
                    f"at index {axis + place}"
                )
                equal(recorder, size, tensor.shape[axis + place], message, "IndexError")
            axis += index.dim()
        else:
            numbers.extend([] if index is None else [index.shape])
            axis += 1
    message = "shape mismatch: indexing tensors could not be broadcast together"
    together(recorder, numbers, message, "IndexError")


def _put(
    recorder: Records, tensor: Tensor, indices: Sequence[Tensor | None], values: Tensor, *_: Any, **__: Any
) -> None:
    """What is stored is as large as what it replaces, or can be spread to it."""
    _indexed(recorder, tensor, indices)
    before = next(place for place, index in enumerate(indices) if index is not None)
    given = [index for index in indices if index is not None]
    if all(isinstance(size, int) and size == 1 for size in values.shape) or len(given) > 1:
        return
    if given[0].dtype in (torch.bool, torch.uint8):
        chosen, replaced = [recorder.count_true(given[0])], given[0].dim()
    else:
        chosen, replaced = list(given[0].shape), 1
    shape = [*tensor.shape[:before], *chosen, *tensor.shape[before + replaced :]]
    spreads(recorder, values.shape, shape, "shape mismatch: value tensor cannot be broadcast to indexing result")


def _gathered(recorder: Records, tensor: Tensor, dim: int, index: Tensor, *_: Any, **__: Any) -> None:
    message = "Expected index to be no larger than self apart from the dimension that it goes along"
    _no_larger(recorder, tensor, dim, index, message)


def _scattered(recorder: Records, tensor: Tensor, dim: int, index: Tensor, source: Any, *_: Any, **__: Any) -> None:
    message = "Expected index to be no larger than self apart from the dimension, and no larger than src"
    _no_larger(recorder, tensor, dim, index, message)
    if isinstance(source, Tensor) and source.dim() == index.dim():
        for size, given in zip(index.shape, source.shape, strict=True):
            at_least(recorder, given, size, "RuntimeError", message)


def _no_larger(recorder: Records, tensor: Tensor, dim: int, index: Tensor, message: str) -> None:
    if tensor.dim() == index.dim():
        for axis in range(tensor.dim()):
            if axis != dim % tensor.dim():
                at_least(recorder, tensor.shape[axis], index.shape[axis], "RuntimeError", message)


def _rows_stored(error: str) -> Callable[..., None]:
    def rule(recorder: Records, tensor: Tensor, dim: int, index: Tensor, source: Tensor, *_: Any, **__: Any) -> None:
        if tensor.dim() != source.dim() or not tensor.dim():
            return
        count = index.shape[0] if index.dim() else 1
        message = "Number of indices should be equal to source.size(dim)"
        equal(recorder, count, source.shape[dim], message, error)
        for axis in range(tensor.dim()):
            if axis != dim % tensor.dim():
                message = "source tensor shape must match self tensor shape, excluding the specified dimension."
                equal(recorder, tensor.shape[axis], source.shape[axis], message)

    return rule


def _repeated(recorder: Records, tensor: Tensor, repeats: Any, dim: int | None = None, **options: Any) -> None:
    count = math.prod(map(expression, tensor.shape)) if dim is None else tensor.shape[dim]
    if isinstance(repeats, Tensor):
        message = "repeats must have the same size as input along dim"
        spreads(recorder, repeats.shape, (count,), message)
    else:
        at_least(recorder, repeats, 0, "RuntimeError", "Repeats must be non-negative")
        if options.get("output_size") is not None:
            message = "allocated size does not match required size"
            equal(recorder, options["output_size"], expression(count) * expression(repeats), message)


def _selected(recorder: Records, tensor: Tensor, dim: int, index: Any) -> None:
    """One place of a dimension of open size; if that is known, `value_errors` looks at the place."""
    if tensor.dim() and not isinstance(tensor.shape[dim], int):
        size, place = expression(tensor.shape[dim]), expression(index)
        inside = sympy.And(sympy.Ge(place, -size), sympy.Lt(place, size))
        recorder.require_size(inside, "IndexError", f"index is out of bounds for dimension {dim % tensor.dim()}")


def _slice_stored(
    recorder: Records, tensor: Tensor, source: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> None:
    """What is stored is as large as the slice, whose places may lie behind the end or count from there."""
    size = expression(tensor.shape[dim])
    begin = sympy.S.Zero if start is None else _place(expression(start), size)
    behind = size if end is None else _place(expression(end), size)
    count = ceiling(sympy.Max(behind - begin, 0), step)
    message = "expected src to have a size equal to the slice of self."
    for axis in range(tensor.dim()):
        wanted = count if axis == dim % tensor.dim() else tensor.shape[axis]
        equal(recorder, wanted, source.shape[axis], message)


def _place(number: Any, size: Any) -> Any:
    """Where a slice begins or ends: a number below 0 counts from the end, none leads out of the tensor."""
    from_front, from_end = sympy.Min(number, size), sympy.Max(number + size, 0)
    is_negative = sympy.Min(sympy.Max(-number, 0), 1)
    return from_front + is_negative * (from_end - from_front)


def _narrowed(recorder: Records, tensor: Tensor, dim: int, start: Any, length: Any) -> None:
    size, begin, count = map(expression, (tensor.shape[dim], start, length))
    if not (size.free_symbols | begin.free_symbols | count.free_symbols):
        return
    at_least(recorder, length, 0, "RuntimeError", "narrow(): length must be non-negative.")
    inside = sympy.And(sympy.Ge(begin, -size), sympy.Le(begin, size))
    recorder.require_size(inside, "IndexError", "start out of range in narrow")
    from_start = sympy.And(sympy.Ge(begin, 0), sympy.Le(begin + count, size))
    from_end = sympy.And(sympy.Lt(begin, 0), sympy.Le(begin + count, 0))
    message = "start + length exceeds dimension size in narrow"
    recorder.require_size(sympy.Or(from_start, from_end), "RuntimeError", message)


_SCATTERS = ("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", "scatter_add.default")

BY_VALUE = {"aten.index_put.default", "aten._unsafe_index_put.default"}
"""How much these replace depends on the elements of a mask."""

INDEXED: dict[str, Callable[..., None]] = {
    **{f"aten.{name}": _indexed for name in ("index.Tensor", "_unsafe_index.Tensor")},
    **dict.fromkeys(BY_VALUE, _put),
    "aten.select.int": _selected,
    "aten.slice_scatter.default": _slice_stored,
    "aten.narrow.default": _narrowed,
    "aten.gather.default": _gathered,
    **{f"aten.{name}": _scattered for name in _SCATTERS},
    "aten.scatter_reduce.two": _scattered,
    "aten.index_add.default": _rows_stored("RuntimeError"),
    "aten.index_reduce.default": _rows_stored("RuntimeError"),
    "aten.index_copy.default": _rows_stored("IndexError"),
    **{f"aten.repeat_interleave.{form}": _repeated for form in ("self_Tensor", "self_int")},
}
