"""What a tensor becomes when a view of it is written."""

from typing import Any

import torch

from dycl.rewrite.record.memory.overlap import View
from dycl.rewrite.record.schemas import parameters
from dycl.rewrite.record.sizes.needs import same_sizes
from dycl.rewrite.signals import Refused

aten = torch.ops.aten


def put_back(view: View, value: torch.Tensor) -> Any:
    """What the viewed tensor becomes when the view takes on `value`."""
    parent, args = view.parent, (*view.args[1:], *view.kwargs.values())
    match str(view.func):
        case "aten.slice.Tensor":
            return aten.slice_scatter.default(parent, value, *args)
        case "aten.select.int":
            return aten.select_scatter.default(parent, value, *args)
        case "aten.alias.default" | "aten.detach.default":
            return value
        case "aten.narrow.default":
            return _put_back_narrow(parent, value, *args)
        case "aten.transpose.int" | "aten.swapaxes.default" | "aten.swapdims.default":
            return aten.transpose.int(value, *args)
        case "aten.t.default" | "aten.mT.default":
            return aten.transpose.int(value, -1, -2) if value.dim() > 1 else value
        case "aten.numpy_T.default":
            return aten.permute.default(value, list(reversed(range(value.dim()))))
        case "aten.movedim.int" | "aten.movedim.intlist":
            return torch.movedim(value, args[1], args[0])
        case "aten.permute.default":
            order = [axis % parent.dim() for axis in args[0]]
            return aten.permute.default(value, [order.index(axis) for axis in range(len(order))])
        case "aten.unbind.int":
            return aten.select_scatter.default(parent, value, args[0] if args else 0, view.position)
        case name if name.split(".")[1].removeprefix("unsafe_") in ("split", "chunk", "split_with_sizes"):
            return _put_back_piece(view, value)
        case "aten.diagonal.default":
            return aten.diagonal_scatter.default(parent, value, *args)
        case _ if _lies_like(view.tensor, parent):
            return value
        case _:
            whole = same_sizes([value.numel()], [parent.numel()]) and value.dtype == parent.dtype
            if whole and view.tensor.is_contiguous() and parent.is_contiguous():
                return aten.reshape.default(value, parent.shape)
            raise Refused("DY006", f"a tensor is changed in place through a view taken by `{view.func}`")


def _lies_like(tensor: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors that share memory are the same one in all but name."""
    same = same_sizes(tensor.shape, other.shape) and same_sizes(tensor.stride(), other.stride())
    return same and tensor.dtype == other.dtype


def _put_back_narrow(parent: torch.Tensor, value: torch.Tensor, axis: int, start: Any, length: Any) -> Any:
    if isinstance(start, int) and (start >= 0 or isinstance(length, int)):
        end = start + length
        return aten.slice_scatter.default(parent, value, axis, start, None if start < 0 and end == 0 else end)
    # A start that only the input determines may count from the end, where a slice's end of 0 would mean the front.
    places = aten.remainder.Scalar(aten.arange.start(start, start + length), parent.shape[axis])
    return aten.index_copy.default(parent, axis, places, value)


def _put_back_piece(view: View, value: torch.Tensor) -> Any:
    arguments = parameters(view.func).bound(view.args, view.kwargs)
    axis, position = arguments.get("dim", 0), view.position or 0
    if "split_sizes" in arguments or isinstance(arguments.get("split_size"), list | tuple):
        offset = sum((arguments.get("split_sizes") or arguments["split_size"])[:position])
    elif "chunks" in arguments:
        offset = position * -(-view.parent.shape[axis] // arguments["chunks"])
    else:
        offset = position * arguments["split_size"]
    return aten.slice_scatter.default(view.parent, value, axis, offset, offset + value.shape[axis])
