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


def inside(recorder: Records, index: Tensor, low: Any, size: Any, error: str, message: str) -> Tensor:
    """The index, with a check that each of its elements is from `low` to `size`, without it."""
    if recorder.is_dynamic(index) and recorder.lies_within(index, low, size):
        return index
    clamped = torch.clamp(index, low, size - 1)
    same = torch.eq(index, clamped)
    check(recorder, same if not same.dim() else same.all(), error, message)
    return clamped if recorder.is_dynamic(clamped) else index
