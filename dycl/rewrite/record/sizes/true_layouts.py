"""How results of open sizes lie in memory: as PyTorch lays them out for known sizes, where its symbolic rules err.

What comes of `x.t() + 1` lies like `x.t()`, which its rules for symbolic sizes forget.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from dycl.rewrite.record.layouts import dense_order, with_unknown_strides
from dycl.rewrite.record.operations import tensors_in
from dycl.rewrite.record.sizes.sampled_shapes import samples, symbols_in


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
    found = samples(func, args, kwargs, guessed=True)
    orders = [_order([sample.results[place] for sample in found]) for place in range(len(results))]
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


def _order(results: Sequence[torch.Tensor]) -> tuple[int, ...] | None:
    """The axes from the outermost to the innermost, if all of these results without gaps lie alike."""
    telling = [item for item in results if isinstance(item, torch.Tensor) and all(size > 1 for size in item.shape)]
    found = {_dense(item) for item in telling}
    return found.pop() if len(found) == 1 else None


def _dense(tensor: torch.Tensor) -> tuple[int, ...] | None:
    axes = sorted(range(tensor.dim()), key=lambda axis: -tensor.stride()[axis])
    return tuple(axes) if tensor.permute(axes).is_contiguous() else None


def _placed(item: torch.Tensor, order: tuple[int, ...] | None, new_size: Callable[[], torch.SymInt]) -> torch.Tensor:
    """A tensor like this one whose axes lie in `order`; in an unknown way if there is none."""
    if order is None:
        unknown = [new_size() for _ in item.shape]
        return with_unknown_strides(torch.empty_strided(item.shape, unknown, dtype=item.dtype))
    if order == dense_order(item):
        return item
    moved = torch.empty([item.shape[axis] for axis in order], dtype=item.dtype)
    return moved.permute([order.index(axis) for axis in range(item.dim())])
