"""What operations gave on fake tensors of known sizes, remembered for the whole process.

Where no result shares memory with an argument, PyTorch's rules depend on the kinds of the arguments alone. Running them
takes ten times as long as making a fake tensor of a kind that is known.
"""

from collections.abc import Callable, Hashable
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.record.operations import tensors_in

_MOST_REMEMBERED = 16_384
_REMEMBERED: dict[Hashable, Any] = {}
_EXACT = frozenset((bool, int, float, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format))

Kind = tuple[tuple[int, ...], tuple[int, ...], torch.dtype]
"""Shape, strides and element type of a tensor: where it begins in its memory makes no difference to what is new."""


class _Unfit(Exception):
    """An argument or a result is of no kind that can be remembered."""


def remembered(
    func: OpOverload[Any, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    make: Callable[[Kind], torch.Tensor],
    ask: Callable[[], Any],
) -> Any:
    """What an operation gives: made anew if it was asked about such a call before, or else as `ask` says."""
    try:
        key = (func, torch.get_default_dtype(), _likeness(args), _likeness(kwargs))
    except _Unfit:
        return ask()
    known = _REMEMBERED.get(key)
    if known is not None:
        return _made(known, make)
    result = ask()
    memories = {tensor.untyped_storage()._cdata for tensor in tensors_in((args, kwargs))}
    try:
        kinds = _kinds(result, memories)
    except _Unfit:
        return result
    if len(_REMEMBERED) == _MOST_REMEMBERED:
        _REMEMBERED.clear()
    _REMEMBERED[key] = kinds
    return result


def _likeness(tree: Any) -> Hashable:
    """What calls have in common whose results are of one kind."""
    kind = type(tree)
    if kind is FakeTensor:
        return _kind(tree)
    if kind in _EXACT:
        return (kind, tree)
    if kind is list or kind is tuple:
        return tuple([_likeness(item) for item in tree])
    if kind is dict:
        return tuple([(name, _likeness(item)) for name, item in tree.items()])
    raise _Unfit


def _kind(tensor: torch.Tensor) -> Kind:
    if tensor.is_complex() or tensor.layout is not torch.strided or tensor.is_neg():
        raise _Unfit
    shape, strides = tuple(tensor.shape), tensor.stride()
    if not all(type(number) is int for number in (*shape, *strides)):
        raise _Unfit
    return (shape, strides, tensor.dtype)


def _kinds(result: Any, memories: set[int]) -> Any:
    """The kinds of new tensors, nested as results are."""
    if isinstance(result, list | tuple):
        return [type(result), *(_kinds(item, memories) for item in result)]
    fresh = type(result) is FakeTensor and result.untyped_storage()._cdata not in memories
    if not fresh or result.storage_offset() or result.requires_grad or result.constant is not None:
        raise _Unfit
    memories.add(result.untyped_storage()._cdata)
    return _kind(result)


def _made(kinds: Any, make: Callable[[Kind], torch.Tensor]) -> Any:
    if type(kinds) is list:
        return kinds[0]([_made(item, make) for item in kinds[1:]])
    return make(kinds)
