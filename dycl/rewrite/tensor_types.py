"""Between PyTorch's element types and the names that the HCFG uses."""

import torch

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
