"""`torch.tensor` of host values."""

from typing import TYPE_CHECKING, Any

import torch

from dycl.hcfg.types import HostKind
from dycl.rewrite.dynamic import NOT_HANDLED, is_dynamic, item
from dycl.rewrite.host_values import kind_of, lift

if TYPE_CHECKING:
    from dycl.rewrite.machine import Machine


def make_tensor(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`torch.tensor(data)`, where host values stand in the data."""
    data = args[0] if args else kwargs.get("data")
    if not _mentions(data, machine):
        return NOT_HANDLED
    dtype = kwargs.get("dtype")
    if dtype is None:
        kinds = set(_kinds(data, machine))
        floating = torch.get_default_dtype()
        dtype = floating if "float" in kinds else torch.int64 if "int" in kinds else torch.bool
    return _stacked(data, machine).to(dtype)


def _mentions(data: Any, machine: "Machine") -> bool:
    if isinstance(data, list | tuple):
        return any(_mentions(part, machine) for part in data)
    return is_dynamic(data, machine)


def _kinds(data: Any, machine: "Machine") -> list[HostKind | None]:
    if isinstance(data, list | tuple):
        return [kind for part in data for kind in _kinds(part, machine)]
    return [item(data, machine).kind if isinstance(data, torch.Tensor) else kind_of(data)]


def _stacked(data: Any, machine: "Machine") -> torch.Tensor:
    if isinstance(data, list | tuple):
        parts = [_stacked(part, machine) for part in data]
        widest = max((part.dtype for part in parts), key=[torch.bool, torch.int64, torch.float64].index)
        return torch.stack([part.to(widest) for part in parts])
    if isinstance(data, torch.Tensor):
        return item(data, machine).tensor
    kind = kind_of(data)
    if kind is None:
        raise TypeError(f"torch.tensor of {type(data).__name__}")
    return lift(data, kind, machine.recorder).tensor
