"""Tensors that share memory for some sizes alone, as `x` and `x.t().reshape(-1)` do where `x` has one row.

PyTorch is asked for which sizes they do. Where that is where some of them are 1, the program finds out when it runs.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch._ops import OpOverload

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.layouts import is_repeated
from dycl.rewrite.record.memory.overlap import View
from dycl.rewrite.record.sizes.sampled_shapes import Answers, samples, value_of

_IN_ORDER = frozenset(("reshape", "flatten", "contiguous", "ravel", "unflatten", "reshape_as", "view_as"))
"""What these give has the elements of what they are given, in the same order, whether they copy them or not."""


def may_copy(func: OpOverload[Any, Any]) -> bool:
    """Whether an operation copies where elements do not lie in the order that it gives them."""
    return _name_of(func) in _IN_ORDER


def _name_of(func: OpOverload[Any, Any]) -> str:
    return str(func).split(".")[1]


def shared_where(view: View, recorder: Records) -> torch.Tensor | None:
    """Whether two tensors turn out to share memory; None if nothing simple tells."""
    if _name_of(view.func) not in _IN_ORDER or is_repeated(view.parent):
        return None
    sizes: list[Any] = [size for size in view.parent.shape if isinstance(size, torch.SymInt)]
    told = _TOLD.of(view.func, view.args, view.kwargs, lambda: _told_by(view, sizes))
    if told is None:
        return None
    combine, places = told
    with recorder.on():
        flags = [torch.le(recorder.materialise(sizes[place]), 1) for place in places]
        joined = flags[0]
        for flag in flags[1:]:
            joined = (torch.logical_or if combine is any else torch.logical_and)(joined, flag)
    return joined


_Told = tuple[Callable[[Any], bool], tuple[int, ...]]
_TOLD = Answers[_Told | None]()


def _told_by(view: View, sizes: list[Any]) -> _Told | None:
    """Which sizes are 1 where they share memory: any of these or all of them."""
    found = [sample for sample in samples(view.func, view.args, view.kwargs, False, of_memory=True) if sample.tells]
    shared = [sample.sources[view.position or 0] is not None for sample in found]
    ones = [[value_of(size, sample.assignment) == 1 for size in sizes] for sample in found]
    every = tuple(range(len(sizes)))
    for combine, places in (*((any, (place,)) for place in every), (any, every), (all, every)):
        if places and [combine([row[place] for place in places]) for row in ones] == shared:
            return combine, places
    return None
