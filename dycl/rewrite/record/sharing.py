"""Which results of a call share memory with its arguments, as PyTorch itself has it.

The schema says so for operations that always give views. A composite operation may do it without a word: dropout gives
back its argument in evaluation, and `einsum` a view where it only permutes. Or it does so for some sizes alone: what
`x.t().reshape(-1)` gives is a view where `x` has one row. Such a call is tried without data.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx.experimental.symbolic_shapes import statically_known_true

from dycl.rewrite.record.operations import overload_suffix, tensors_in
from dycl.rewrite.record.sizes.sampled_shapes import memory_sources, symbols_in


def memory(tensor: torch.Tensor) -> int:
    """What two tensors have in common exactly if they share memory."""
    return int(tensor.untyped_storage()._cdata)


@functools.cache
def is_composite(func: OpOverload[Any, Any]) -> bool:
    """Whether PyTorch computes this operation by others, also in eager mode, so that those decide about its memory."""
    name = func._schema.name + overload_suffix(func)
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd")


@functools.cache
def gives_view(func: OpOverload[Any, Any]) -> bool:
    """Whether the schema says that results may share memory with arguments."""
    return any(item.alias_info is not None for item in func._schema.returns)


Sharing = list[tuple[torch.Tensor, bool] | None]
"""For each result: the argument that it shares memory with, and whether that is certain; None where there is none."""


def sharing(
    func: OpOverload[Any, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    results: list[Any],
    stand_in: Callable[[torch.Tensor], torch.Tensor],
) -> Sharing:
    """What each result of a call shares memory with."""
    if gives_view(func) and not (is_composite(func) and symbols_in((args, kwargs))):
        return _by_memory((args, kwargs), results, stand_in)
    if not is_composite(func) and not func._schema.name.startswith("aten::unsafe_"):
        return [None] * len(results)
    return asked(func, args, kwargs, results, stand_in)


def asked(
    func: OpOverload[Any, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    results: list[Any],
    stand_in: Callable[[torch.Tensor], torch.Tensor],
) -> Sharing:
    """What each result shares memory with, by trying the call on tensors without data."""
    sources = memory_sources(func, args, kwargs)
    if sources is None or len(sources) != len(results):
        return _by_memory((args, kwargs), results, stand_in)
    tensors = list({id(tensor): tensor for tensor in tensors_in((args, kwargs))}.values())
    found: Sharing = []
    for places in sources:
        known = [place for place in places if place is not None]
        found.append((tensors[known[0]], len(places) == 1) if known else None)
    return found


def _by_memory(tree: Any, results: list[Any], stand_in: Callable[[torch.Tensor], torch.Tensor]) -> Sharing:
    """What the results at hand share memory with."""
    owners: dict[int, torch.Tensor] = {}
    for tensor in tensors_in(tree):
        owners.setdefault(memory(tensor), tensor)
        owners.setdefault(memory(stand_in(tensor)), tensor)
    known = [owners.get(memory(item)) if isinstance(item, torch.Tensor) else None for item in results]
    return [None if owner is None else (owner, True) for owner in known]


def lies_across(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether PyTorch finds that two tensors in the same memory have some, but not all elements in common.

    It looks at those alone whose elements lie close together.
    """
    if not (_is_dense(one) and _is_dense(other)):
        return False
    here, there = ((tensor.storage_offset(), tensor.numel()) for tensor in (one, other))
    if not all(isinstance(number, int) for number in (*here, *there)):
        return not all(_always_equal(*pair) for pair in zip(here, there, strict=True))
    if not here[1] or not there[1] or (here == there and one.stride() == other.stride()):
        return False
    return here[0] < there[0] + there[1] and there[0] < here[0] + here[1]


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements lie close together, in whatever order."""
    if not all(isinstance(number, int) for number in (*tensor.shape, *tensor.stride())):
        return _is_in_order(tensor)
    step = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def _is_in_order(tensor: torch.Tensor) -> bool:
    """Whether the elements lie one behind the other, whatever the open sizes are."""
    step: Any = 1
    for size, stride in reversed(list(zip(tensor.shape, tensor.stride(), strict=True))):
        if not _always_equal(stride, step):
            return False
        step = step * size
    return True


def _always_equal(one: Any, other: Any) -> bool:
    """Whether two numbers are equal for all sizes that are open."""
    return bool(statically_known_true(one == other))
