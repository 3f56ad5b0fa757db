"""Weak references tell when an object dies: a program keeps no track of that, so what would tell is refused."""

import weakref
from typing import Any

import torch
from torch import Tensor, nn


class _Thing:
    """Something that can be referred to weakly."""


class CalledBack(nn.Module):
    """A reference made by the call runs a method when its object dies."""

    refused = "DY009"

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def died(self, reference: Any) -> None:
        """Count."""
        self.count += 1

    def forward(self, x: Tensor) -> Any:
        thing = _Thing()
        reference = weakref.ref(thing, self.died)
        del thing
        return (x + self.count, reference) if x.sum() > 1e9 else x + self.count


class Finalized(nn.Module):
    """A finalizer made by the call."""

    refused = "DY009"

    def __init__(self) -> None:
        super().__init__()
        self.count = [0]

    def forward(self, x: Tensor) -> Tensor:
        thing: _Thing | None = _Thing()
        weakref.finalize(thing, self.count.append, 1)
        if x.sum() > 0:
            thing = None
        return x + len(self.count)


class AsksFinalizer(nn.Module):
    """A finalizer that was there before says whether its object is alive."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.thing: _Thing | None = _Thing()
        self.finalizer = weakref.finalize(self.thing, len, ())

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.thing = None
        return x + int(self.finalizer.alive)


class HoldsFinalizer(nn.Module):
    """A finalizer that nobody asks."""

    def __init__(self) -> None:
        super().__init__()
        self.thing = _Thing()
        self.finalizer = weakref.finalize(self.thing, len, ())

    def forward(self, x: Tensor) -> Tensor:
        return x + 1 if x.sum() > 0 else x


class BufferReferredTo(nn.Module):
    """A weak reference to a buffer that the call replaces."""

    refused = "DY007"
    kept: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(3))
        self.reference = weakref.ref(self.kept)

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.kept = self.kept + 1
        kept = self.reference()
        return -x if kept is None else x + kept.sum()


class BufferInTable(nn.Module):
    """A table whose values die with the buffer."""

    refused = "DY007"
    kept: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(3))
        self.table = weakref.WeakValueDictionary({"kept": self.kept})

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.kept = self.kept + 1
        return x + len(self.table)


class LocalReference(nn.Module):
    """A weak reference to a tensor that the call makes and drops."""

    refused = "DY009"

    def forward(self, x: Tensor) -> Any:
        y = x * 2
        reference = weakref.ref(y)
        del y
        return x, reference() is None


class LocalTable(nn.Module):
    """A table that forgets what the call drops."""

    refused = "DY009"

    def forward(self, x: Tensor) -> Any:
        table: weakref.WeakKeyDictionary[_Thing, int] = weakref.WeakKeyDictionary()
        thing: _Thing | None = _Thing()
        assert thing is not None
        table[thing] = 1
        thing = None
        return len(table), x if x.sum() > 0 else -x


class LocalSet(nn.Module):
    """A set that forgets what the call drops."""

    refused = "DY009"

    def forward(self, x: Tensor) -> Any:
        things: weakref.WeakSet[_Thing] = weakref.WeakSet()
        one, other = _Thing(), _Thing()
        things.add(one)
        things.add(other)
        one = other
        return len(things), x if x.sum() > 0 else -x


class ReferenceToModule(nn.Module):
    """A weak reference to a module, which stays."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Any:
        layer = weakref.ref(self.layer)
        factor = len(weakref.proxy(self).layer.weight)
        found: Any = layer()
        return found(x) if x.sum() > 0 else x + factor


class ParameterReferredTo(nn.Module):
    """A weak reference to a parameter, which stays: recurrent networks hold such ones."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((2,), 3.0))
        self.reference = weakref.ref(self.weight)

    def forward(self, x: Tensor) -> Any:
        weight: Any = self.reference()
        return x * weight if x.sum() > 0 else (x, weight is self.weight)
