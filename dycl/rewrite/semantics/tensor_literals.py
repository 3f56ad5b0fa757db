"""Tensors made of host values: `torch.tensor` and its like, and `one_hot` of a size that only the input determines."""

from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, kind_of, lift
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, is_dynamic, number_of
from dycl.rewrite.semantics.stand_ins import stand_in


def make_tensor(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`torch.tensor(data)`, where host values stand in the data."""
    data = args[0] if args else kwargs.get("data")
    if not mentions_dynamic(data, machine):
        return NOT_HANDLED
    return _copied(data, _element_type(torch.tensor, data, kwargs, machine), machine)


def as_tensor(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`torch.as_tensor(data)` and `torch.asarray(data)`: a tensor or array itself, where it has the right type."""
    data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
    if isinstance(data, torch.Tensor) or not mentions_dynamic(data, machine):
        return NOT_HANDLED
    options = dict(zip(("dtype", "device"), args[1:], strict=False)) | kwargs
    dtype = _element_type(torch.as_tensor, data, options, machine)
    if type(data) is HostArray and not data.scalar:
        return data.tensor if data.tensor.dtype == dtype else data.tensor.to(dtype)
    return _copied(data, dtype, machine)


def new_tensor(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`tensor.new_tensor(data)`, where host values stand in the data."""
    like, data = args
    if not mentions_dynamic(data, machine):
        return NOT_HANDLED
    return _copied(data, kwargs.get("dtype") or like.dtype, machine)


def one_hot(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`one_hot(classes, num_classes)`, where the number of classes is a host value."""
    classes = args[0] if args else kwargs.get("tensor", kwargs.get("input"))
    count = number_of(args[1] if len(args) > 1 else kwargs.get("num_classes", -1), machine)
    if not isinstance(count, HostValue) or not isinstance(classes, torch.Tensor):
        return NOT_HANDLED
    size = count.as_kind("int").tensor
    machine.recorder.check(torch.ge(classes, 0).all(), "RuntimeError", "Class values must be non-negative.")
    smaller = torch.lt(classes, size).all()
    machine.recorder.check(smaller, "RuntimeError", "Class values must be smaller than num_classes.")
    numbers = torch.arange(count.as_kind("int").symbol())
    return torch.eq(classes.unsqueeze(-1), numbers).to(torch.int64)


def mentions_dynamic(data: Any, machine: Running) -> bool:
    """Whether a value that only the input determines stands in these nested lists."""
    if isinstance(data, list | tuple):
        return any(mentions_dynamic(part, machine) for part in data)
    return is_dynamic(data, machine)


def _element_type(maker: Any, data: Any, kwargs: dict[str, Any], machine: Running) -> torch.dtype:
    """The element type that PyTorch gives such a tensor: what it gives one of ones."""
    with _disable_current_modes():
        made: torch.Tensor = maker(stand_in(data, machine), **kwargs)
    return made.dtype


def _copied(data: Any, dtype: torch.dtype, machine: Running) -> torch.Tensor:
    stacked = _stacked(data, machine)
    return stacked.clone() if stacked.dtype == dtype else stacked.to(dtype)


def _stacked(data: Any, machine: Running) -> torch.Tensor:
    if isinstance(data, list | tuple):
        parts = [_stacked(part, machine) for part in data]
        widest = parts[0].dtype
        for part in parts:
            widest = torch.promote_types(widest, part.dtype)
        return torch.stack([part.to(widest) for part in parts])
    if isinstance(data, torch.Tensor):
        return data
    if type(data) is HostArray:
        return data.tensor
    kind = kind_of(data)
    if kind is None:
        return torch.tensor(data)
    return lift(data, kind, machine.recorder).tensor


HANDLERS: dict[Any, Handler] = {
    torch.tensor: make_tensor,
    torch.as_tensor: as_tensor,
    torch.asarray: as_tensor,
    torch._C._nn.one_hot: one_hot,
}
