"""What PyTorch does not compute for some element types: the difference of flags, the maximum over windows of numbers.

Of fake tensors PyTorch says little more than the shapes, and the backend would compute something. So PyTorch is asked
on small real tensors, once for each operation and each kind of arguments.
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.record.operations import tensors_in
from dycl.rewrite.record.schemas import name_of, parameters
from dycl.rewrite.record.sizes.shape_rules import ATEN_ERRORS
from dycl.rewrite.signals import Refused

# Tensors of more elements are asked about by smaller ones.
_MOST_ELEMENTS = 10_000
_SMALL = 8
# Numbers up to this one fit into all element types.
_EVERYWHERE = 127
# What an open size is while PyTorch is asked.
_OPEN = 2

_TELLS_OF_TYPES = re.compile(
    r"not implemented for|types?\b|bool|(?<!multi-target )not support|only support", re.IGNORECASE
)

_REFUSED: dict[Hashable, bool] = {}
_THEMSELVES = frozenset((bool, str, type(None)))


def require_computed(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], kind: Hashable) -> None:
    """Raise PyTorch's error if it does not compute with tensors of these element types; `kind` is the kind of call."""
    _require_stored_as_is(func, args, kwargs)
    if kind not in _REFUSED:
        _REFUSED[kind] = func.namespace == "aten" and _is_refused(func, args, kwargs)
    if _REFUSED[kind]:
        if _computes_nothing(func, args, kwargs):
            raise Refused("DY004", f"PyTorch computes `{func}` of these element types for no elements alone")
        ask(func, args, kwargs)


def _computes_nothing(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether there may be no elements, and PyTorch then takes them, whatever their type is."""
    if not any(isinstance(size, torch.SymInt) for tensor in tensors_in((args, kwargs)) for size in tensor.shape):
        return False
    try:
        with _disable_current_modes(), torch.no_grad():
            func(*_real(args, small=False, opened=0), **_real(kwargs, small=False, opened=0))
    except ATEN_ERRORS:
        return False
    return True


def _require_stored_as_is(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise PyTorch's error if elements of one type are put into a tensor of another one."""
    name = name_of(func).split(".")[1]
    if name in _STORED:
        bound = parameters(func).bound(args, kwargs)
        stored = next((bound[item] for item in ("src", "source", "values") if item in bound), None)
        if isinstance(stored, torch.Tensor) and stored.dtype != args[0].dtype:
            raise RuntimeError(f"{name}(): self and source expected to have the same dtype")


# Operations that put elements of one tensor into another one.
_STORED = {
    *("scatter", "scatter_add", "scatter_reduce", "index_put", "index_add", "index_copy", "index_reduce"),
    *("masked_scatter", "put"),
}


def kind_of_call(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    """What is the same for calls that PyTorch takes or refuses together."""
    return func, kind_of_arguments(args), kind_of_arguments(kwargs)


def kind_of_arguments(tree: Any) -> Hashable:
    """What is the same for arguments that PyTorch takes or refuses together: not sizes, nor numbers of any type."""
    if type(tree) in _THEMSELVES:
        return cast("Hashable", tree)
    match tree:
        case torch.Tensor():
            return tree.dtype, tree.dim()
        case bool() | str():
            return tree
        case list() | tuple():
            return tuple(map(kind_of_arguments, tree))
        case dict():
            return tuple((name, kind_of_arguments(value)) for name, value in tree.items())
        case torch.dtype():
            return tree
        case float():
            return repr(tree)
        case int() if abs(tree) > _EVERYWHERE:
            return tree
        case _:
            return f"{type(tree)}"


def _is_refused(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether PyTorch says something against the element types; what it says against the numbers is not about them."""
    try:
        ask(func, args, kwargs)
    except Exception as error:
        return _TELLS_OF_TYPES.search(str(error)) is not None
    return False


def ask(
    func: OpOverload[Any, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    instead: Mapping[int | str, Any] = MappingProxyType({}),
) -> None:
    """Call an operation on small real tensors, with these arguments instead of those at their places."""
    with _disable_current_modes(), torch.no_grad():
        given, named = real_arguments(args, kwargs, instead)
        func(*given, **named)


def real_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any], instead: Mapping[int | str, Any] = MappingProxyType({})
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with small real tensors of ones, and with these instead of those at their places."""
    small = needs_small(tensors_in((args, kwargs)))
    given = tuple([instead.get(place, _real(value, small)) for place, value in enumerate(args)])
    return given, {name: instead.get(name, _real(value, small)) for name, value in kwargs.items()}


def needs_small(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether these tensors are so large that PyTorch is asked about smaller ones."""
    return any(_count(tensor) > _MOST_ELEMENTS for tensor in tensors)


def _count(tensor: torch.Tensor) -> int:
    count = 1
    for size in tensor.shape:
        count *= size if isinstance(size, int) else _OPEN
    return count


def _real(tree: Any, small: bool, opened: int = _OPEN) -> Any:
    """Arguments with real values: ones."""
    match tree:
        case torch.Tensor():
            sizes = [size if isinstance(size, int) else opened for size in tree.shape]
            return torch.ones([min(size, _SMALL) for size in sizes] if small else sizes, dtype=tree.dtype)
        case list() | tuple():
            return type(tree)([_real(item, small, opened) for item in tree])
        case dict():
            return {name: _real(value, small, opened) for name, value in tree.items()}
        case torch.SymInt():
            return 1
        case torch.SymFloat():
            return 1.0
        case torch.SymBool():
            return True
        case _:
            return tree
