"""What operations gave on fake tensors of known sizes, remembered for the whole process.

PyTorch's rules depend on the kinds of the arguments alone. Running them takes ten times as long as making a fake tensor
of a kind that is known, in memory of its own or in that of an argument.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.record.operations import tensors_in

_MOST_REMEMBERED = 16_384
_REMEMBERED: dict[Hashable, Any] = {}
_EXACT = frozenset((bool, int, float, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format))


@dataclass(frozen=True, slots=True)
class Kind:
    """Shape, strides and element type of a tensor, and the place of its first element in its memory."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype
    offset: int = 0


@dataclass(frozen=True, slots=True)
class _Shown:
    """A result in the memory of the argument at this place; without a kind, that argument itself."""

    place: int
    kind: Kind | None


Make = Callable[[Kind, torch.Tensor | None], torch.Tensor]
"""Makes a fake tensor of a kind, in memory of its own or in that of another one."""


class _Unfit(Exception):
    """An argument or a result is of no kind that can be remembered."""


def remembered(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], make: Make, ask: Callable[[], Any]
) -> Any:
    """What an operation gives: made anew if it was asked about such a call before, or else as `ask` says."""
    try:
        key = (func, torch.get_default_dtype(), _likeness(args), _likeness(kwargs))
    except _Unfit:
        return ask()
    known = _REMEMBERED.get(key)
    given = tensors_in((args, kwargs))
    if known is not None:
        return _made(known, given, make)
    result = ask()
    try:
        kinds = _kinds(result, given, set())
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


def _kind(tensor: torch.Tensor) -> tuple[Any, ...]:
    """All that PyTorch's rules see of a tensor; a view begins in memory by where its argument does."""
    if tensor.is_complex() or tensor.layout is not torch.strided or tensor.is_neg():
        raise _Unfit
    told = (tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.storage_offset())
    if not all(type(number) is int for number in (*told[0], *told[1], told[3])):
        raise _Unfit
    return told


def _kinds(result: Any, given: Sequence[torch.Tensor], taken: set[int]) -> Any:
    """The kinds of results, nested as they are."""
    if isinstance(result, list | tuple):
        return [type(result), *(_kinds(item, given, taken) for item in result)]
    if type(result) is not FakeTensor or result.constant is not None:
        raise _Unfit
    memory = result.untyped_storage()._cdata
    shown = [place for place, tensor in enumerate(given) if tensor.untyped_storage()._cdata == memory]
    if len(shown) == 1 and result is given[shown[0]]:
        return _Shown(shown[0], None)
    kind = Kind(*_kind(result))
    if len(shown) == 1 and kind.dtype == given[shown[0]].dtype:
        return _Shown(shown[0], kind)
    if shown or kind.offset or memory in taken:
        raise _Unfit
    taken.add(memory)
    return kind


def _made(kinds: Any, given: Sequence[torch.Tensor], make: Make) -> Any:
    if type(kinds) is list:
        return kinds[0]([_made(item, given, make) for item in kinds[1:]])
    if type(kinds) is not _Shown:
        return make(kinds, None)
    return given[kinds.place] if kinds.kind is None else make(kinds.kind, given[kinds.place])
