"""Tensors as callers hold them, numpy arrays or PyTorch tensors, to and from the arrays that the runtime holds.

PyTorch is never imported here: a caller who has a PyTorch tensor has imported it already.
"""

import sys
from typing import Any

import numpy as np

from dycl.hcfg.types import DType, TensorType
from dycl.runtime.weight_store import Array, array_dtype

_NUMPY_TYPES = (np.ndarray, np.generic)


def is_torch_tensor(value: object) -> bool:
    """Whether `value` is a PyTorch tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_tensor(value: object) -> bool:
    """Whether `value` is something that can be passed as a tensor."""
    return isinstance(value, _NUMPY_TYPES) or is_torch_tensor(value)


def dtype_name(tensor: Any) -> str:
    """The name of a tensor's element type, in the words of `DType` where it has one."""
    if isinstance(tensor, _NUMPY_TYPES):
        return str(tensor.dtype.name)
    return str(tensor.dtype).removeprefix("torch.")


def describe(tensor: Any) -> str:
    """The type of a tensor as messages show it, such as float32[1, 3]."""
    return f"{dtype_name(tensor)}[{', '.join(map(str, tensor.shape))}]"


def to_array(tensor: Any, dtype: DType) -> Array:
    """The elements of a tensor of element type `dtype`, from any device; the array may share the tensor's memory."""
    if isinstance(tensor, _NUMPY_TYPES):
        array = np.asarray(tensor)
        carried = array.view(np.uint16) if dtype == "bfloat16" else array
        return carried.astype(array_dtype(dtype), copy=False)  # Also brings foreign byte orders home.
    if dtype == "bfloat16":
        torch = sys.modules["torch"]
        bits: Array = tensor.detach().cpu().contiguous().view(torch.int16).numpy()
        return bits.view(np.uint16)
    elements: Array = tensor.numpy(force=True)
    return elements


def accepts(tensor_type: TensorType, tensor: Any) -> bool:
    """Whether a tensor has the element type of `tensor_type`; numpy has no bfloat16, so its bits may come as uint16."""
    name = dtype_name(tensor)
    if name == tensor_type.dtype:
        return True
    return tensor_type.dtype == "bfloat16" and name == "uint16" and not is_torch_tensor(tensor)


def element_type(name: str) -> object | None:
    """The element type that PyTorch calls so, if PyTorch is loaded."""
    torch = sys.modules.get("torch")
    found = None if torch is None else vars(torch).get(name.removeprefix("torch."))
    return found if torch is not None and isinstance(found, torch.dtype) and str(found) == name else None


def to_torch(array: Array) -> Any:
    """A PyTorch tensor that uses the memory of `array`; one of bfloat16 for uint16, which stands for nothing else."""
    torch = sys.modules["torch"]
    if array.dtype == np.uint16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
