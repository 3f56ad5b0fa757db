"""Tensors from before the call, and who holds them: whether another one can stand in all of their places."""

import collections
import operator
import types
from collections.abc import Iterable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.state.heap.unchanged.guards import Guard
from dycl.rewrite.state.heap.unchanged.stores import names_of, sets_attributes_of_others, stored_by

_OWN_DICT = operator.attrgetter("__dict__")
_GRAD = operator.attrgetter("grad")
_SETS_MEMORY = frozenset(("data", "requires_grad", "requires_grad_", "set_", "resize_", "set_data"))


def _differs(tensor: torch.Tensor, told: tuple[torch.Tensor, bool, int]) -> bool:
    return tensor.requires_grad is not told[1] or tensor.data_ptr() != told[2] or tensor.shape != told[0].shape


class HeldTensors:
    """How often each tensor was met, and how often in a place that can be filled with another one."""

    def __init__(self) -> None:
        self._all: dict[int, torch.Tensor] = {}
        self._met: collections.Counter[int] = collections.Counter()
        self._replaceable: collections.Counter[int] = collections.Counter()
        self._kept: dict[int, torch.Tensor] = {}
        self._plain: list[torch.Tensor] = []
        self._strided: list[torch.Tensor] = []
        self._leaves: list[torch.Tensor] = []
        self._grads: list[torch.Tensor | None] = []
        self._told: list[tuple[torch.Tensor, bool, int]] = []
        self._get_attributes = self._get_grads = self._get_memory = False
        """Whether some function that was found sets attributes of what may be tensors, their derivatives or memory."""

    def meet(self, tensor: torch.Tensor) -> bool:
        """Take note of a tensor, wherever it was met; whether it is the first time."""
        self._met[id(tensor)] += 1
        return self._all.setdefault(id(tensor), tensor) is tensor and self._met[id(tensor)] == 1

    def keep(self, tensor: torch.Tensor) -> None:
        """Take note of what hangs on a tensor, to see whether something new does."""
        if type(tensor) is FakeTensor or id(tensor) in self._kept:
            return
        self._kept[id(tensor)] = tensor
        if not tensor.__dict__:
            self._plain.append(tensor)
        if tensor.layout is torch.strided:
            self._told.append((tensor.data, tensor.requires_grad, tensor.data_ptr()))
            self._strided.append(tensor)
        if tensor.is_leaf:
            self._leaves.append(tensor)
            self._grads.append(tensor.grad)

    def note_stores(self, code: types.CodeType) -> None:
        """Take note of a function: whether it may set attributes or derivatives of tensors."""
        self._get_attributes |= sets_attributes_of_others(code)
        self._get_grads |= "grad" in stored_by(code)
        self._get_memory |= not _SETS_MEMORY.isdisjoint(stored_by(code) | names_of(code))

    def guard(self) -> Guard:
        """Nothing new hangs on them: no attribute, no derivative."""
        return Guard(self._changed, self._restore)

    def _changed(self) -> str | None:
        if self._get_attributes and any(map(_OWN_DICT, self._plain)):
            return "what hangs on a tensor that outlives the call"
        if self._get_grads and not all(map(operator.is_, map(_GRAD, self._leaves), self._grads)):
            return "the derivative of a tensor that outlives the call"
        if self._get_memory and any(map(_differs, self._strided, self._told)):
            return "the memory of a tensor that outlives the call, or whether it requires derivatives"
        return None

    def _restore(self) -> None:
        for tensor in self._plain if self._get_attributes else ():
            tensor.__dict__.clear()
        for tensor, grad in zip(self._leaves, self._grads, strict=True) if self._get_grads else ():
            if tensor.grad is not grad:
                tensor.grad = grad
        for tensor, told in zip(self._strided, self._told, strict=True) if self._get_memory else ():
            if _differs(tensor, told):
                tensor.data, tensor.requires_grad = told[0], told[1]

    def note_replaceable(self, values: Iterable[Any]) -> None:
        """Take note of the tensors among values whose places can be filled with others; all of these will be met."""
        for value in values:
            if isinstance(value, torch.Tensor):
                self._replaceable[id(value)] += 1

    def is_held_fast(self, tensor: torch.Tensor) -> bool:
        """Whether something holds a tensor where nothing else can stand for it: a class, a function, a tuple, a key."""
        return self._met[id(tensor)] > self._replaceable[id(tensor)]
