"""Indexing of arrays whose contents, or whose index, only the input determines."""

from typing import Any

import numpy as np
import torch

from dycl.rewrite.record.host_arrays import HostArray, current_recorder, refused
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.semantics.indexing import mentions_host_value, selected
from dycl.rewrite.semantics.numpy.forms import (
    answered,
    number_of_scalar,
    numpys_errors,
    require_fit,
    stand_in,
    tensor_of,
    wrapped,
)


def get_item(array: HostArray, index: Any) -> Any:
    """`array[index]`."""
    answer = answered(lambda size: array.stand_in(0, size)[_index_stand_in(index, size)], (array, index))
    tensor, parts = _forward(array.tensor, _index(index))
    with numpys_errors():
        if mentions_host_value(parts):
            tensor, parts = selected(tensor, parts)
        return wrapped(answer, tensor[parts])


def set_item(array: HostArray, index: Any, value: Any) -> None:
    """`array[index] = value`."""
    if array.scalar:
        raise TypeError(f"'{array.dtype.type.__module__}.{array.dtype.name}' object does not support item assignment")
    tensor, parts = array.tensor, _index(index)
    if _forward(tensor, parts)[0] is not tensor:
        raise refused("writing to an array from its end to its start")
    if not _is_mask(index):
        # With a mask of zeros it would not tell of the same number of elements.
        answered(lambda size: _written(array, index, value, size), (array, index, value))
    require_fit(value, array.dtype)
    with numpys_errors():
        if mentions_host_value(parts):
            tensor, parts = selected(tensor, parts)
        tensor[parts] = tensor_of(value, array.tensor.dtype)


def _written(array: HostArray, index: Any, value: Any, size: int) -> None:
    array.stand_in(0, size)[_index_stand_in(index, size)] = stand_in(value, size)


def _is_mask(index: Any) -> bool:
    """Whether flags of the input are in an index."""
    if isinstance(index, tuple | list):
        return any(map(_is_mask, index))
    return isinstance(index, HostArray | torch.Tensor) and getattr(index, "tensor", index).dtype == torch.bool


def _index_stand_in(index: Any, size: int) -> Any:
    if isinstance(index, tuple):
        return tuple(_index_stand_in(part, size) for part in index)
    if isinstance(index, slice):
        return slice(None) if any(_is_host(part) for part in (index.start, index.stop, index.step)) else index
    if isinstance(index, HostValue):
        return 0
    if isinstance(index, list):
        return [_index_stand_in(part, size) for part in index]
    return stand_in(index, size)


def _is_host(value: Any) -> bool:
    return isinstance(value, HostValue) or type(value) is HostArray


def _index(index: Any) -> Any:
    """An index as PyTorch takes it, with host values in it."""
    if isinstance(index, tuple):
        return tuple(_index(part) for part in index)
    if isinstance(index, slice):
        return slice(*(_index(part) for part in (index.start, index.stop, index.step)))
    if type(index) is HostArray:
        return number_of_scalar(index) if index.scalar else index.tensor
    if isinstance(index, list | np.ndarray):
        return tensor_of(index)
    return int(index) if isinstance(index, np.integer) else index


def _forward(tensor: torch.Tensor, index: Any) -> tuple[torch.Tensor, Any]:
    """The tensor turned round where a slice goes backwards, which PyTorch's slices cannot, and that slice forward."""
    parts = list(index) if isinstance(index, tuple) else [index]
    if not any(isinstance(part, slice) and isinstance(part.step, int) and part.step < 0 for part in parts):
        return tensor, index
    if any(part is Ellipsis or isinstance(part, torch.Tensor) for part in parts):
        raise refused("an index that goes backwards beside `...` or an array")
    axis = 0
    source = tensor
    for place, part in enumerate(parts):
        if isinstance(part, slice) and isinstance(part.step, int) and part.step < 0:
            if part.start is not None or part.stop is not None:
                raise refused("a slice that goes backwards between bounds")
            tensor = torch.flip(tensor, (axis,))
            parts[place] = slice(None, None, -part.step)
        axis += part is not None
    _keep_unwritten(source, tensor)
    return tensor, tuple(parts)


def _keep_unwritten(source: torch.Tensor, copy: torch.Tensor) -> None:
    """Refuse later writes to what NumPy would show as a view and PyTorch gave as a copy."""
    current_recorder().entangle(source, copy)
