"""Questions about one call of an ATen operation, asked before it is recorded."""

from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.signals import Refused


def require_plain_layout(tensor: torch.Tensor, size: Any, stride: Any, storage_offset: Any = None) -> None:
    """Refuse `as_strided` unless it reads the tensor's own elements, which lie in memory in their order."""
    if storage_offset is not None or not tensor.is_contiguous():
        raise Refused("DY004", "`as_strided` reads memory whose order only PyTorch knows")


def require_fitting(
    read: OpOverload[Any, Any], whole: torch.Tensor, part: torch.Tensor, *args: Any, **kwargs: Any
) -> None:
    """Raise PyTorch's error if a part has another shape than its place; on fake tensors PyTorch does not look."""
    numbers = (*whole.shape, *part.shape, *args, *kwargs.values())
    if all(number is None or isinstance(number, int) for number in numbers):
        with _disable_current_modes():
            place = read(torch.empty(whole.shape, device="meta"), *args, **kwargs).shape
        if place != part.shape:
            raise RuntimeError(
                f"expected src to have a size equal to the slice of self. src size = {list(part.shape)}, "
                f"slice size = {list(place)}"
            )


def overload_suffix(func: OpOverload[Any, Any]) -> str:
    """How the dispatcher names this overload behind the operation's name."""
    return f".{func._overloadname}" if func._overloadname != "default" else ""


def tensors_in(tree: Any) -> list[torch.Tensor]:
    """Every tensor in nested arguments or results."""
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, list | tuple):
        return [tensor for item in tree for tensor in tensors_in(item)]
    if isinstance(tree, dict):
        return [tensor for item in tree.values() for tensor in tensors_in(item)]
    return []


def is_random(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call draws random numbers, which dropout in evaluation does not."""
    if torch.Tag.nondeterministic_seeded not in func.tags:
        return False
    names = [argument.name for argument in func._schema.arguments]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if given.get("train", given.get("training", True)) is False:
        return False
    return "dropout_p" not in names or bool(given.get("dropout_p", 0.0))
