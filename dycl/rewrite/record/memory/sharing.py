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
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.record.operations import overload_suffix, tensors_in
from dycl.rewrite.record.sizes.sampled_shapes import memory_sources, symbols_in

_ALWAYS_NEW = frozenset(
    f"aten::{name}"
    for name in (
        *("linear", "matmul", "conv1d", "conv2d", "conv3d", "batch_norm", "layer_norm", "group_norm"),
        *("max_pool1d", "max_pool2d", "max_pool3d", "softmax", "log_softmax", "scaled_dot_product_attention"),
    )
)
"""Composite operations that end in one which computes, whatever their arguments: asking about each call takes long."""


# While a program is rewritten, its own code is not told.
_STORAGE_OF: Callable[[torch.Tensor], torch.UntypedStorage] = torch.Tensor.untyped_storage


def memory(tensor: torch.Tensor) -> int:
    """What two tensors have in common exactly if they share memory."""
    return int(_STORAGE_OF(tensor)._cdata)


def is_alone(tensor: torch.Tensor) -> bool:
    """Whether no array or buffer lies in a tensor's memory: where one does, PyTorch does not let it be resized."""
    if isinstance(tensor, FakeTensor) or tensor.layout is not torch.strided:
        return True
    return bool(tensor.untyped_storage().resizable())


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
    name = func._schema.name
    if name in _ALWAYS_NEW or (not is_composite(func) and not name.startswith("aten::unsafe_")):
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
