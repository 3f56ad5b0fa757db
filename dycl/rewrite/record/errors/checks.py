"""Checks of elements, which cost nothing where the elements are known."""

import builtins
from typing import Any

import torch
from torch import Tensor

from dycl.rewrite.record.contract import Records


def check(recorder: Records, condition: Tensor, error: str, message: str, guards: bool = False) -> None:
    """Let the program raise an error unless a condition holds; if that is known already, raise it."""
    if recorder.is_dynamic(condition):
        recorder.check(condition, error, message, guards)
    elif not condition.item():
        kind: type[Exception] = getattr(builtins, error)
        raise kind(message)


def inside(
    recorder: Records,
    index: Tensor,
    low: Any,
    size: Any,
    error: str,
    message: str,
    unless: bool | Tensor = False,
) -> Tensor:
    """The index, with a check that each of its elements is from `low` to `size`, without it, or that `unless` holds."""
    if recorder.is_dynamic(index) and recorder.lies_within(index, low, size):
        return index
    clamped = torch.clamp(index, low, size - 1)
    if unless is not True:
        same = torch.eq(index, clamped)
        if isinstance(size, torch.SymInt):
            # Of no places at all, -1 is none either.
            same = torch.logical_and(same, torch.gt(recorder.materialise(size), 0))
        if isinstance(unless, Tensor):
            same = torch.logical_or(same, unless)
        check(recorder, same if not same.dim() else same.all(), error, message)
    return clamped if recorder.is_dynamic(clamped) else index
