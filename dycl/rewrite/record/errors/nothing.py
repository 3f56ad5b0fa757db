"""What PyTorch refuses because a tensor has no elements: its rules for shapes let much pass that its code does not.

Where all sizes are known, PyTorch is simply asked: of nothing, most operations are quick.
"""

from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map_only

from dycl.rewrite.record.operations import tensors_in
from dycl.rewrite.record.sizes.sampled_shapes import symbols_in
from dycl.rewrite.record.sizes.shape_rules import ATEN_ERRORS


def require_taken_of_nothing(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise PyTorch's error if it refuses the operation because some tensor is known to have no elements."""
    tensors = tensors_in((args, kwargs))
    if not any(type(size) is int and not size for tensor in tensors for size in tensor.shape):
        return
    if func.namespace != "aten" or symbols_in((args, kwargs)):
        return
    # Whatever the elements of the others are.
    errors = [_error(func, args, kwargs, number) for number in (0, 1)]
    if errors[0] is not None and errors[1] is not None:
        raise errors[0]


def _error(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], number: int) -> Exception | None:
    def real(tensor: torch.Tensor) -> torch.Tensor:
        return torch.full(tensor.shape, number, dtype=tensor.dtype)

    with _disable_current_modes(), torch.no_grad():
        try:
            func(*tree_map_only(torch.Tensor, real, args), **tree_map_only(torch.Tensor, real, kwargs))
        except ATEN_ERRORS as error:
            return error
    return None
