"""Where tensors, arrays and buffers lie in memory, and which of them cannot be copied one by one."""

import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.record.memory.sharing import is_alone
from dycl.rewrite.signals import Refused

Extent = tuple[int, int]
"""Where something begins in memory, and where it ends."""

BUFFERS = (np.ndarray, bytearray, array.array, memoryview)
"""What lies in memory that Python code gets at."""


def extent_of(value: Any) -> Extent | None:
    """Where something lies in memory, if it does."""
    match value:
        case FakeTensor():
            return None
        case torch.Tensor():
            if value.layout is not torch.strided or not value.numel() or value.device.type != "cpu":
                return None
            reach = sum((size - 1) * stride for size, stride in zip(value.shape, value.stride(), strict=True)) + 1
            return value.data_ptr(), value.data_ptr() + reach * value.element_size()
        case torch.UntypedStorage() | torch.TypedStorage():
            return value.data_ptr(), value.data_ptr() + value.nbytes()
        case np.ndarray():
            return np.lib.array_utils.byte_bounds(value) if value.size else None
        case bytearray() | array.array() | memoryview() if len(value):
            return np.lib.array_utils.byte_bounds(np.frombuffer(value, np.uint8))
        case _:
            return None


def require_own_memory(value: Any, others: Iterable[tuple[int, Any]]) -> None:
    """Refuse an array or buffer in the memory of another one, or of a tensor: copies of both would be apart."""
    place = _memory_of(value)
    if place is None:
        return
    for _, other in others:
        both_tensors = isinstance(value, torch.Tensor) and isinstance(other, torch.Tensor)
        beside = None if other is value or both_tensors else _memory_of(other)
        if beside is not None and place[0] < beside[1] and beside[0] < place[1]:
            reason = "two arrays, or an array and a tensor, that share their memory are alive across a decision"
            raise Refused("DY009", reason, "copy one of them")


def _memory_of(value: Any) -> tuple[int, int] | None:
    """Where something lies, if that may be in an array's memory; what tensors share is looked after elsewhere."""
    if not isinstance(value, (torch.Tensor, *BUFFERS)):
        return None
    return None if isinstance(value, torch.Tensor) and is_alone(value) else extent_of(value)
