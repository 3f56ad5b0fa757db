"""How results of open sizes lie in memory: as PyTorch lays them out for known sizes, where its symbolic rules err.

What comes of `x.t() + 1` lies like `x.t()`, which its rules for symbolic sizes forget.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from dycl.rewrite.record.layouts import dense_order, in_order, with_unknown_strides
from dycl.rewrite.record.operations import tensors_in
from dycl.rewrite.record.sizes.sampled_shapes import Answers, samples, symbols_in

_Axes = tuple[int, ...]
_ORDERS = Answers[list[_Axes | None]]()


def laid_out(
    func: OpOverload[Any, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
    fake_mode: FakeTensorMode,
    new_size: Callable[[], torch.SymInt],
) -> Any:
    """The results of a call on open sizes, each with the strides that it has in eager mode, or with unknown ones."""
    turned = any(tensor.dim() > 1 and not _lies_in_order(tensor) for tensor in tensors_in((args, kwargs)))
    if not turned and not func._schema.name.startswith("aten::linalg_"):
        return result
    several = isinstance(result, tuple | list)
    results = list(result) if several else [result]
    if not any(isinstance(item, FakeTensor) and item.dim() > 1 and symbols_in(item) for item in results):
        return result
    orders = _ORDERS.of(func, args, kwargs, lambda: _orders(func, args, kwargs, results))
    given = {tensor.untyped_storage()._cdata for tensor in tensors_in((args, kwargs))}
    with fake_mode:
        laid = [
            _placed(item, order, new_size) if _may_err(item, given) else item
            for item, order in zip(results, orders, strict=True)
        ]
    return type(result)(laid) if several else laid[0]


def _lies_in_order(tensor: torch.Tensor) -> bool:
    if not symbols_in(tensor):
        return tensor.is_contiguous()
    return dense_order(tensor) == tuple(range(tensor.dim()))


def _may_err(item: Any, given: set[int]) -> bool:
    """Whether the strides of a result are PyTorch's guess: those of a view are computed from its argument's."""
    if not isinstance(item, FakeTensor) or item.dim() < 2 or not symbols_in(item):
        return False
    return item.untyped_storage()._cdata not in given


def _orders(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], results: Sequence[Any]
) -> list[_Axes | None]:
    found = samples(func, args, kwargs, guessed=True)
    return [_order(item, [sample.results[place] for sample in found]) for place, item in enumerate(results)]


def _order(result: Any, found: Sequence[Any]) -> _Axes | None:
    """The axes from the outermost to the innermost, if these results lie alike and without gaps wherever it shows."""
    if not isinstance(result, torch.Tensor):
        return None
    wide = [axis for axis, size in enumerate(result.shape) if not isinstance(size, int) or size != 1]
    orders = {_dense(item, wide) for item in found if all(item.shape[axis] > 1 for axis in wide)}
    order = orders.pop() if len(orders) == 1 else None
    return None if order is None else _with_single(order, result.dim())


def _dense(tensor: torch.Tensor, wide: Sequence[int]) -> _Axes | None:
    axes = sorted(wide, key=lambda axis: -tensor.stride()[axis])
    strides, shape = ([sizes[axis] for axis in axes] for sizes in (tensor.stride(), tensor.shape))
    return tuple(axes) if tuple(strides) == in_order(shape) else None


def _with_single(order: _Axes, rank: int) -> _Axes:
    """The order with the axes of one element in it, which lie anywhere: in their own place if the others do."""
    axes = list(order)
    for axis in sorted(set(range(rank)) - set(order), reverse=True):
        axes.insert(next((place for place, other in enumerate(axes) if other > axis), len(axes)), axis)
    return tuple(axes)


def _placed(item: torch.Tensor, order: _Axes | None, new_size: Callable[[], torch.SymInt]) -> torch.Tensor:
    """A tensor like this one whose axes lie in `order`; in an unknown way if there is none."""
    if order is None:
        unknown = [new_size() for _ in item.shape]
        return with_unknown_strides(torch.empty_strided(item.shape, unknown, dtype=item.dtype))
    if order == dense_order(item):
        return item
    moved = torch.empty([item.shape[axis] for axis in order], dtype=item.dtype)
    return moved.permute([order.index(axis) for axis in range(item.dim())])
