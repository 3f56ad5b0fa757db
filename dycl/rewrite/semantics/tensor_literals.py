"""Tensors made of host values: `torch.tensor` and its like, and `one_hot` of a size that only the input determines."""

from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, kind_of, lift
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, is_dynamic, item, number_of
from dycl.rewrite.semantics.stand_ins import stand_in
from dycl.rewrite.signals import Refused


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
        return from_numpy(data, machine) if data.tensor.dtype == dtype else _contents(data, machine).to(dtype)
    return _copied(data, dtype, machine)


def from_numpy(array: HostArray, machine: Running) -> torch.Tensor:
    """`torch.from_numpy(array)`: another tensor, in the same memory."""
    shown: torch.Tensor = torch.ops.aten.alias.default(_contents(array, machine))
    return shown


def _contents(array: HostArray, machine: Running) -> torch.Tensor:
    """What an array holds, for PyTorch, which takes none that goes backwards through memory."""
    if machine.recorder.stands_for_another(array.tensor):
        raise Refused("DY014", "a view of an array that may go backwards becomes a tensor", "copy it: `array.copy()`")
    return array.tensor


def new_tensor(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`tensor.new_tensor(data)`, where host values stand in the data."""
    like, data = args
    if not mentions_dynamic(data, machine):
        return NOT_HANDLED
    return _copied(data, kwargs.get("dtype") or like.dtype, machine)


def typed_tensor(kind: Any, dtype: torch.dtype | None) -> Handler:
    """`torch.LongTensor(data)` and its like, where host values stand in the data."""

    def make(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        data = args[0] if len(args) == 1 else None
        if type(data) is not HostArray and not (isinstance(data, list | tuple) and mentions_dynamic(data, machine)):
            return NOT_HANDLED
        _element_type(kind, data, kwargs, machine)
        if type(data) is HostArray and _shares(kind, data):
            return from_numpy(data, machine)
        return _copied(data, dtype or torch.get_default_dtype(), machine)

    return make


def _shares(maker: Any, array: HostArray) -> bool:
    """Whether PyTorch uses the memory of such an array for a tensor of this kind."""
    with _disable_current_modes():
        shown = array.stand_in(0, 1)
        made: torch.Tensor = maker(shown)
    return made.numel() > 0 and made.data_ptr() == shown.__array_interface__["data"][0]


def new(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`tensor.new(data)`, where host values stand in the data; with numbers it makes a tensor of that size."""
    if len(args) == 2 and isinstance(args[1], list | tuple) and type(args[1]) is not torch.Size:
        return new_tensor(machine, args, kwargs)
    return NOT_HANDLED


def one_hot(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`one_hot(classes, num_classes)`, where the number of classes is a host value, or that of the greatest class."""
    classes = args[0] if args else kwargs.get("tensor", kwargs.get("input"))
    count = number_of(args[1] if len(args) > 1 else kwargs.get("num_classes", -1), machine)
    if not isinstance(classes, torch.Tensor) or classes.dtype != torch.int64:
        return NOT_HANDLED
    if isinstance(count, HostValue) and count.kind != "int":
        raise TypeError("one_hot(): argument 'num_classes' must be int")
    if isinstance(count, HostValue):
        count = item(_number_of_classes(count.as_kind("int").tensor, classes, machine), machine)
    elif count == -1 and classes.numel() and machine.recorder.is_dynamic(classes):
        count = item(classes.max() + 1, machine)
    if not isinstance(count, HostValue):
        return NOT_HANDLED
    size = count.as_kind("int").tensor
    machine.recorder.check(torch.ge(classes, 0).all(), "RuntimeError", "Class values must be non-negative.")
    smaller = torch.lt(classes, size).all()
    machine.recorder.check(smaller, "RuntimeError", "Class values must be smaller than num_classes.")
    numbers = torch.arange(count.as_kind("int").symbol())
    return torch.eq(classes.unsqueeze(-1), numbers).to(torch.int64)


def _number_of_classes(count: torch.Tensor, classes: torch.Tensor, machine: Running) -> torch.Tensor:
    """So many classes, or as many as the greatest one says where -1 is asked for."""
    greatest = torch.cat([classes.flatten(), torch.tensor([-1])]).max()
    number = torch.where(torch.eq(count, -1), greatest + 1, count)
    message = "Class values must be smaller than num_classes."
    machine.recorder.check(torch.gt(number, 0), "RuntimeError", message)
    return number


def attention(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`scaled_dot_product_attention`, where only the input determines whether it is causal."""
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    given = dict(zip(names, args, strict=False)) | kwargs
    flag = given.get("is_causal", False)
    if not isinstance(flag, HostValue):
        return NOT_HANDLED
    if given.get("attn_mask") is not None:
        message = "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        machine.recorder.check(torch.logical_not(flag.as_kind("bool").tensor), "RuntimeError", message)
        return torch._C._nn.scaled_dot_product_attention(**(given | {"is_causal": False}))
    allowed = torch.ones(given["query"].shape[-2], given["key"].shape[-2], dtype=torch.bool).tril()
    mask = torch.logical_or(allowed, torch.logical_not(flag.as_kind("bool").tensor))
    return torch._C._nn.scaled_dot_product_attention(**(given | {"attn_mask": mask, "is_causal": False}))


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
    stacked = _stacked(data, dtype, machine)
    return stacked.clone() if stacked.dtype == dtype else stacked.to(dtype)


def _stacked(data: Any, dtype: torch.dtype, machine: Running) -> torch.Tensor:
    if isinstance(data, list | tuple):
        parts = [_stacked(_number_in(part, machine), dtype, machine) for part in data]
        widest = parts[0].dtype
        for part in parts:
            widest = torch.promote_types(widest, part.dtype)
        return torch.stack([part.to(widest) for part in parts])
    if isinstance(data, torch.Tensor):
        return data
    if type(data) is HostArray:
        return _contents(data, machine)
    kind = kind_of(data)
    if kind is None:
        return torch.tensor(data)
    number = lift(data, kind, machine.recorder)
    if number.kind != "bool" and dtype in (*NARROW, torch.int64):
        if number.kind == "float":
            require_whole(number.tensor, dtype, machine)
        number = number.converted("int")
        if dtype in NARROW:
            require_narrow(number.tensor, dtype, machine)
    return number.tensor


def _number_in(part: Any, machine: Running) -> Any:
    """A part of a list: of a tensor of one element, the number."""
    if isinstance(part, torch.Tensor) and not part.dim() and machine.recorder.is_dynamic(part):
        return part if part.is_complex() else item(part, machine)
    return part


def require_whole(numbers: torch.Tensor, dtype: torch.dtype, machine: Running) -> None:
    """Check that numbers are within 64 bits, as PyTorch does: NaN and infinity are not."""
    fits = torch.logical_and(torch.ge(numbers, -(2.0**63)), torch.lt(numbers, 2.0**63)).all()
    machine.recorder.check(fits, "RuntimeError", _overflow(dtype))


def _overflow(dtype: torch.dtype) -> str:
    return f"value cannot be converted to type {str(dtype).removeprefix('torch.')} without overflow"


def require_narrow(numbers: torch.Tensor, dtype: torch.dtype, machine: Running) -> None:
    """Check that whole numbers fit into an element type of fewer bits, as PyTorch does."""
    limits = torch.iinfo(dtype)
    # PyTorch lets negative numbers wrap around where there is no sign.
    fits = torch.logical_and(torch.ge(numbers, limits.min or -limits.max), torch.le(numbers, limits.max)).all()
    machine.recorder.check(fits, "RuntimeError", _overflow(dtype))


NARROW = (torch.uint8, torch.int8, torch.int16, torch.int32)
# The old names of tensors by their element type; `torch.Tensor` takes the usual one.
TYPED: dict[Any, torch.dtype | None] = {
    torch.Tensor: None,
    torch.BoolTensor: torch.bool,
    torch.ByteTensor: torch.uint8,
    torch.CharTensor: torch.int8,
    torch.ShortTensor: torch.int16,
    torch.IntTensor: torch.int32,
    torch.LongTensor: torch.int64,
    torch.HalfTensor: torch.float16,
    torch.FloatTensor: torch.float32,
    torch.DoubleTensor: torch.float64,
}
HANDLERS: dict[Any, Handler] = {
    torch.tensor: make_tensor,
    torch.as_tensor: as_tensor,
    torch.asarray: as_tensor,
    torch._C._nn.one_hot: one_hot,
    torch._C._nn.scaled_dot_product_attention: attention,
    **{kind: typed_tensor(kind, dtype) for kind, dtype in TYPED.items()},
}
