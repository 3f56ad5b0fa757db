"""Between PyTorch's element types and the names that the HCFG uses; and what else tells tensors apart."""

import torch
from torch import nn

from dycl.hcfg.types import DTYPES, DType, TensorType
from dycl.rewrite.signals import Refused


def dtype_name(dtype: torch.dtype) -> DType:
    """The HCFG's name of an element type."""
    name = str(dtype).removeprefix("torch.")
    if name not in DTYPES:
        raise Refused("DY004", f"tensors of type `{dtype}` are not supported")
    return name


def torch_dtype(name: DType) -> torch.dtype:
    """The element type that PyTorch calls `name`."""
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype


def tensor_type(tensor: torch.Tensor) -> TensorType:
    """The type of a tensor whose dimensions are all known."""
    return TensorType(dtype_name(tensor.dtype), tuple(int(size) for size in tensor.shape))


def dress_of(tensor: torch.Tensor) -> tuple[bool, bool, bool]:
    """Whether a tensor is a parameter, whether it is a buffer by its class, and whether it requires derivatives."""
    return isinstance(tensor, nn.Parameter), isinstance(tensor, nn.Buffer), tensor.requires_grad


def dress(tensor: torch.Tensor, is_parameter: bool, is_buffer: bool, requires_grad: bool) -> torch.Tensor:
    """The tensor, which `isinstance` now takes for a parameter or a buffer: PyTorch looks at these marks."""
    if is_parameter:
        tensor._is_param = True
    if is_buffer:
        tensor._is_buffer = True  # type: ignore[attr-defined]
    return tensor.requires_grad_(requires_grad)
