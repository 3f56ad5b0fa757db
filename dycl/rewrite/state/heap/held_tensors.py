"""Tensors from before the call, and who holds them: whether another one can stand in all of their places."""

import collections
from collections.abc import Iterable
from typing import Any

import torch


class HeldTensors:
    """How often each tensor was met, and how often in a place that can be filled with another one."""

    def __init__(self) -> None:
        self._all: dict[int, torch.Tensor] = {}
        self._met: collections.Counter[int] = collections.Counter()
        self._replaceable: collections.Counter[int] = collections.Counter()

    def meet(self, tensor: torch.Tensor) -> bool:
        """Take note of a tensor, wherever it was met; whether it is the first time."""
        self._met[id(tensor)] += 1
        return self._all.setdefault(id(tensor), tensor) is tensor and self._met[id(tensor)] == 1

    def note_replaceable(self, values: Iterable[Any]) -> None:
        """Take note of the tensors among values whose places can be filled with others; all of these will be met."""
        for value in values:
            if isinstance(value, torch.Tensor):
                self._replaceable[id(value)] += 1

    def is_held_fast(self, tensor: torch.Tensor) -> bool:
        """Whether something holds a tensor where nothing else can stand for it: a class, a function, a tuple, a key."""
        return self._met[id(tensor)] > self._replaceable[id(tensor)]
